"""Pools whose sizes are chosen are laid out as the framework does it, in every equal division, the fewest parts first."""

from __future__ import annotations

import pytest
from placewright.models import pools as room
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.pools import Laying, Pool, PoolParts


def cluster(text: str) -> Cluster:
    found = read_shorthand(text)
    assert isinstance(found, Cluster)
    return found


def nodes(runs: object) -> list[int]:
    return [node for _, its in seats(runs) for (node, _), _, _ in its]  # type: ignore[arg-type]


def test_one_open_pool_takes_the_fewest_nodes_first() -> None:
    laying = Laying((Pool("global_pool", (), 0, ("actor", "rollout")),))
    first, *others = laying.lay_out({"actor": 8, "rollout": 8}, cluster("2x8"))
    assert first is not None
    assert others[0] is not None
    assert nodes(first["actor"]) == [0] * 8
    assert first["actor"] == first["rollout"]
    assert nodes(others[0]["actor"]) == [0] * 4 + [1] * 4


def test_an_open_pool_is_laid_beside_one_that_has_its_size() -> None:
    laying = Laying((Pool("trainer_pool", (PoolParts(8, 1),), 0, ("actor",)), Pool("rollout_pool", (), 0, ("rollout",))))
    found = next(laying.lay_out({"rollout": 16}, cluster("3x8")))
    assert found is not None
    assert nodes(found["rollout"]) == [1] * 8 + [2] * 8


def test_several_parts_of_a_pool_lie_on_a_node_that_has_room_for_them() -> None:
    laying = Laying((Pool("global_pool", (), 0, ("actor",)),))
    found = next(laying.lay_out({"actor": 12}, cluster("1x8+1x4")))
    assert found is not None
    assert nodes(found["actor"]) == [0] * 8 + [1] * 4
    thirds = next(laying.lay_out({"actor": 9}, cluster("2x8")))
    assert thirds is not None
    assert sorted(nodes(thirds["actor"])) == [0] * 6 + [1] * 3


def test_where_not_all_ways_are_tried_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_TRIED", 2)
    laying = Laying((Pool("trainer_pool", (), 0, ("actor",)), Pool("rollout_pool", (), 0, ("rollout",))))
    assert list(laying.lay_out({"actor": 8, "rollout": 8}, cluster("1x8")))[-1] is None


def test_what_has_no_equal_parts_that_fit_is_not_laid() -> None:
    laying = Laying((Pool("global_pool", (), 0, ("actor",)),))
    assert list(laying.lay_out({"actor": 13}, cluster("2x6"))) == []
    assert list(laying.lay_out({"actor": 24}, cluster("2x8"))) == []


def test_cpus_that_a_pool_reserves_count() -> None:
    machines = cluster("1x8")
    laying = Laying((Pool("global_pool", (), 3, ("actor",)),))
    assert list(laying.lay_out({"actor": 8}, machines))
