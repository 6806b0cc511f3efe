"""A cluster that lost nodes."""

from __future__ import annotations

from placewright.models.machines.changed import ranks_left, without_nodes
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node_group import ACCELERATOR, EnvConfig, NodeGroup
from placewright.models.machines.shorthand import read_shorthand


def four() -> Cluster:
    machines = read_shorthand("4x8xH100")
    assert isinstance(machines, Cluster)
    software = (EnvConfig((2,), (("A", "1"),)), EnvConfig((1,), (("B", "2"),)))
    return machines.with_groups([NodeGroup("train", (1, 2), ACCELERATOR, software), NodeGroup("rest", (3,), ACCELERATOR)])


def test_the_others_keep_their_names_and_are_numbered_anew() -> None:
    left = without_nodes(four(), {1, 3})
    assert [(node.rank, node.name) for node in left.nodes] == [(0, "node-0"), (1, "node-2")]
    assert ranks_left(four(), {1, 3}) == {0: 0, 2: 1}


def test_groups_and_their_software_go_with_their_nodes() -> None:
    left = without_nodes(four(), {1, 3})
    assert list(left.groups["train"].node_ranks) == [1]
    assert left.groups["train"].env_configs == (EnvConfig((1,), (("A", "1"),)),)
    assert list(left.groups["rest"].node_ranks) == []


def test_nothing_lost_is_the_same_cluster() -> None:
    assert without_nodes(four(), ()) == four()
