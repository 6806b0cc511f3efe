"""RLinf's words in the workers' own processes: what only Ray can show."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import ModuleType
from typing import Any, Iterator

import pytest
from placewright.runtime.compat.rlinf.cluster import Cluster
from placewright.runtime.compat.rlinf.group import WorkerGroup
from placewright.runtime.compat.rlinf.strategies import NodePlacementStrategy, PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.ray_compat import send_by_value
from placewright.runtime.workers.inside.base import Worker

pytestmark = pytest.mark.ray


class Child(Worker):
    """Started by another worker."""

    def who(self) -> tuple[str, int]:
        return self._worker_name, self._cluster_node_rank


class Parent(Worker):
    """Launches, finds and calls groups itself."""

    def train(self) -> float:
        with self.worker_timer():
            time.sleep(0.02)
        return self.rank

    @staticmethod
    def add(one: int, other: int) -> int:
        return one + other

    def sees(self) -> tuple[int, int, bool]:
        cluster = Cluster()
        return cluster.num_nodes, cluster.num_accelerators, cluster is Cluster()

    def launches(self) -> list[tuple[str, int]]:
        strategy = NodePlacementStrategy([self._cluster_node_rank])
        with Child.create_group().launch(cluster=Cluster(), placement_strategy=strategy, name=f"child-{self._rank}") as group:
            return group.who().wait()

    def calls(self, group: Any) -> list[int]:
        return group.execute_on(1).add(1, 2).wait() + WorkerGroup.from_group_name(Parent, "parent").execute_on(1).add(2, 3).wait()

    def locks(self, seconds: float) -> tuple[float, float]:
        with self.device_lock:
            began = time.monotonic()
            time.sleep(seconds)
            return began, time.monotonic()

    def sends(self) -> None:
        self.send("weights", "rollout", 0)

    def ends_itself(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Unborn(Child):
    """Its module is on no worker's path."""


@pytest.fixture
def cluster(address: str) -> Iterator[Cluster]:
    send_by_value(sys.modules[__name__])
    with Cluster(address=address) as cluster:
        yield cluster


def test_groups_timers_locks_and_clusters_in_the_workers(cluster: Cluster) -> None:
    group = Parent.create_group().launch(cluster, PackedPlacementStrategy(0, 3, 2), name="parent")
    handle = group.train()
    assert handle.consume_duration("min") >= 0.02
    assert list(group.train().consume_durations()) == ["train"]
    assert group.execute_on(0).add(1, 2).wait() == [3]
    assert group.sees().wait() == [(2, 8, True)] * 2
    assert group.execute_on(1).launches().wait() == [[("child-1:0", 0)]]
    assert WorkerGroup.from_group_name(Parent, "parent").execute_on(0).calls(group).wait() == [[3, 5]]

    other = Parent.create_group().launch(cluster, PackedPlacementStrategy(0, 0), name="other")
    spans = sorted([group.execute_on(0).locks(0.2).wait()[0], other.locks(0.2).wait()[0]])
    assert spans[0][1] <= spans[1][0]
    with pytest.raises(LaunchFailed, match="`send` is not here: placewright moves no data between workers"):
        other.sends().wait()
    with pytest.raises(LaunchFailed, match="died while it ran `ends_itself`"):
        other.ends_itself().wait()


def test_a_class_that_a_node_cannot_load_is_named_with_what_is_missing(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("of_the_driver_alone")
    module.Unborn = Unborn
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Unborn, "__module__", module.__name__)
    with pytest.raises(LaunchFailed, match="cannot be loaded there: ModuleNotFoundError: No module named 'of_the_driver_alone'") as caught:
        Unborn.create_group().launch(cluster, PackedPlacementStrategy(0, 0), name="unborn")
    assert [finding.code for finding in caught.value.findings] == ["PW707"]
