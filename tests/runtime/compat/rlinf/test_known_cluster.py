"""`Cluster()` with nothing in between: the one that this process has, and in a worker the one that it was launched on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.compat.rlinf import cluster as cluster_module
from placewright.runtime.compat.rlinf import cluster as known_module
from placewright.runtime.compat.rlinf.cluster import Cluster, ClusterOfWorker, describe, parse_description
from placewright.runtime.compat.rlinf.strategies import NodePlacementStrategy, PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import RayNode

from ...fake import FakePort
from .machines import Actor, cluster


@pytest.fixture(autouse=True)
def none_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "opened", [])
    monkeypatch.setattr(known_module, "opened", cluster_module.opened)


def test_it_is_the_one_that_is_open() -> None:
    _, machines = cluster(2)
    assert Cluster() is machines
    _, other = cluster(1)
    assert Cluster() is other
    other.close()
    other.close()
    assert Cluster() is machines


def test_it_is_the_same_for_the_same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    port = FakePort(2, 2)
    monkeypatch.setattr(Cluster, "_connect", lambda *_: port)
    machines = Cluster(num_nodes=1)
    assert Cluster(num_nodes=1) is Cluster() is machines
    with pytest.raises(LaunchFailed, match="needs 2 accelerators free, 0 are"):
        Cluster(num_nodes=2)
    machines.close()
    with pytest.warns(UserWarning, match="nothing is written to logs"), Cluster(2, distributed_log_dir="logs") as larger:
        assert larger.num_nodes == 2


def test_one_that_could_not_be_made_is_not_known() -> None:
    port, machines = cluster(2)
    with pytest.raises(LaunchFailed):
        Cluster(port=port)
    assert Cluster() is machines


def test_nobody_said_which(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(cluster_module, "need_ray", lambda: SimpleNamespace(is_initialized=lambda: False))  # other tests are connected
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(LaunchFailed, match="the Ray cluster is unspecified"):
        Cluster()
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with pytest.raises(LaunchFailed, match="no Ray cluster can be used at `auto`"):
        Cluster()


def test_a_worker_sees_the_nodes_of_its_cluster_and_their_groups() -> None:
    groups = [{"label": "trainers", "node_ranks": 1, "env_configs": [{"node_ranks": 1, "env_vars": [{"LD_PRELOAD": "x.so"}]}]}]
    port, machines = cluster(4, 2, 8, cluster_cfg={"num_nodes": 2, "node_groups": groups}, trusted_env=["LD_PRELOAD"])
    inside = ClusterOfWorker(machines.description, port)
    assert (inside.num_nodes, inside.num_accelerators) == (2, 6)
    assert inside.machines.nodes == machines.machines.nodes
    found = inside.get_node_group("trainers")
    assert found is not None
    assert [dict(its.env_vars) for its in found.env_configs] == [{"LD_PRELOAD": "x.so"}]
    assert [inside.get_node_ip(rank) for rank in range(2)] == ["10.0.0.1", "10.0.0.2"]
    assert len(PackedPlacementStrategy(0, 5).get_placement(inside)) == 6
    port.lose_node(0)
    with pytest.raises(LaunchFailed, match="node 0 of the cluster is not there any more"):
        ClusterOfWorker(machines.description, port)


def test_in_a_worker_it_is_made_once_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    port, machines = cluster(4, 2)
    monkeypatch.setenv("PLACEWRIGHT_LAUNCHED_ON", machines.description)
    monkeypatch.setattr(cluster_module, "RayPort", lambda: port)
    known_module.opened.clear()
    inside = Cluster()
    assert isinstance(inside, ClusterOfWorker)
    assert Cluster() is inside
    assert inside.num_accelerators == 6


def test_a_worker_launches_groups_in_what_the_driver_holds() -> None:
    port, machines = cluster(2, 2)
    inside = ClusterOfWorker(machines.description, port)
    group = Actor.create_group(3).launch(inside, NodePlacementStrategy([1]), name="child")
    assert group.train(2).wait() == [6]
    assert len(port.left_over()["holds"]) == 1
    group.close()
    inside.close()
    assert len(port.left_over()["holds"]) == 1
    machines.close()
    assert port.left_over() == {}


def test_its_description_is_short_enough_for_an_environment() -> None:
    machines = read_shorthand("2000x8xH100")
    nodes = [RayNode(f"{rank * 2654435761 % 2**224:056x}", "", "", {}, {}, {}) for rank in range(2000)]
    text = describe(machines, nodes, ["LD_PRELOAD"], ["MUJOCO_GL"])
    assert len(text) < 100_000
    found, ids, trusted, environment = parse_description(text)
    assert (found, trusted, environment) == (machines, ["LD_PRELOAD"], ["MUJOCO_GL"])
    assert all(node.node_id.startswith(id) for node, id in zip(nodes, ids))
