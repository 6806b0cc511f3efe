"""A fault at every call of the port while the frameworks' own words are used: verl's pools and groups, RLinf's clusters and groups."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, split_resource_pool
from placewright.runtime.compat.rlinf.cluster import Cluster
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy
from placewright.runtime.workers.inside.base import Worker

from ..fake import Fault
from ..user_code.verl_workers import Actor
from .everywhere import Scene, carries, outcomes


class Trainer(Worker):
    """Knows its rank."""

    def step(self) -> int:
        """The rank of its placement, as verl and RLinf both tell it."""
        return int(self.rank)


def a_pool(port: Any) -> None:
    with RayResourcePool([4, 2], name_prefix="p", max_colocate_count=2, on=port) as pool:
        assert len(pool.seats()) == 6


def a_group_on_a_pool(port: Any) -> None:
    with RayResourcePool([4, 2], name_prefix="p", max_colocate_count=2, on=port) as pool:
        group = RayWorkerGroup(pool, RayClassWithInitArgs(cls=Actor), name_prefix="actor")
        assert group.execute_all_sync("getenv", "RANK") == ["0", "1", "2", "3", "4", "5"]


def two_groups_on_parts_of_a_pool(port: Any) -> None:
    with RayResourcePool([4, 4], name_prefix="p", max_colocate_count=1, on=port) as pool:
        for number, part in enumerate(split_resource_pool(pool, 4)):
            group = RayWorkerGroup(part, RayClassWithInitArgs(cls=Actor), name_prefix=f"part{number}")
            assert group.execute_all_sync("getenv", "WORLD_SIZE") == ["4"] * 4


def two_groups_on_a_cluster(port: Any) -> None:
    with Cluster(port=port) as machines:
        actor = Trainer.create_group().launch(machines, PackedPlacementStrategy(0, 7, 2), name="actor")
        rollout = Trainer.create_group().launch(machines, PackedPlacementStrategy(0, 7, 4), name="rollout")
        assert [actor.step().wait(), rollout.step().wait()] == [[0, 1, 2, 3], [0, 1]]


@pytest.mark.parametrize("kind", [Fault, KeyboardInterrupt])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("scene", [a_pool, a_group_on_a_pool, two_groups_on_parts_of_a_pool, two_groups_on_a_cluster])
def test_nothing_is_left_wherever_it_fails(scene: Scene, after: bool, kind: type[BaseException]) -> None:
    seen = []
    for call, problem, port in outcomes(scene, kind, after):
        assert carries(problem, kind), (call, len(seen) + 1)
        if (call, after) != ("hold", True):  # what is held without our knowing ends with the connection, which is not of the port
            assert port.left_over() == {}, (call, len(seen) + 1)
        seen.append(call)
    assert {"nodes", "hold", "state", "release"} <= set(seen)
