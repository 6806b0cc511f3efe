"""A call that fails ends the waiting for others, which may wait for it themselves."""

from __future__ import annotations

import gc

import pytest
from placewright.runtime.compat.rlinf.cluster import MANY
from placewright.runtime.compat.rlinf.group import WorkerGroup
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.workers.inside.base import Worker

from ...fake import FakePort
from .machines import cluster


class Half(Worker):
    def generate(self) -> int:
        return self.rank

    def fail(self) -> None:
        raise RuntimeError("no weights")


@pytest.fixture
def halves() -> tuple[FakePort, WorkerGroup, WorkerGroup]:
    """One whose calls take ten minutes, and one whose calls take none."""
    port, machines = cluster(4)
    env = Half.create_group().launch(machines, PackedPlacementStrategy(0, 1), name="env")
    rollout = Half.create_group().launch(machines, PackedPlacementStrategy(2, 3), name="rollout")
    port.slow = {"env:0": 600.0, "env:1": 600.0}
    return port, env, rollout


def test_whoever_waits_is_told_of_a_failure_that_nobody_waited_for(halves: tuple[FakePort, WorkerGroup, WorkerGroup]) -> None:
    port, env, rollout = halves
    waiting = env.generate()
    rollout.fail()  # nobody keeps what it gives
    gc.collect(1)  # the youngest two generations hold all that this test made
    began = port.now()
    with pytest.raises(LaunchFailed, match="rank 0 of `rollout` on `host-0` raised while it ran `fail`: RuntimeError: no weights"):
        waiting.wait()
    assert port.now() - began < 1
    assert waiting.wait() == [0, 1]


def test_a_failure_that_somebody_was_told_of_is_not_told_again(halves: tuple[FakePort, WorkerGroup, WorkerGroup]) -> None:
    _, env, rollout = halves
    failing = rollout.fail()
    with pytest.raises(LaunchFailed, match="no weights"):
        failing.wait()
    assert env.generate().wait() == [0, 1]
    failing = rollout.fail()
    with pytest.raises(LaunchFailed, match="no weights"):
        list(failing.as_completed())
    assert env.generate().wait() == [0, 1]


def test_calls_that_nobody_waits_for_are_not_kept_for_ever(halves: tuple[FakePort, WorkerGroup, WorkerGroup]) -> None:
    port, env, rollout = halves
    for _ in range(10 * MANY):
        rollout.generate()
        port.pause(0.01)
    assert rollout._started is not None
    assert len(rollout._started.calls._calls) <= MANY
    rollout.fail()
    for _ in range(10 * MANY):
        rollout.generate()
        port.pause(0.01)
    with pytest.raises(LaunchFailed, match="no weights"):
        env.generate().wait()


def test_what_is_raised_elsewhere_is_still_known_where_it_happened(halves: tuple[FakePort, WorkerGroup, WorkerGroup]) -> None:
    _, env, rollout = halves
    failing, good = rollout.fail(), rollout.generate()
    with pytest.raises(LaunchFailed, match="`rollout`"):
        env.generate().wait()
    with pytest.raises(LaunchFailed, match="`rollout`"):
        failing.wait()
    assert good.wait() == [0, 1]
