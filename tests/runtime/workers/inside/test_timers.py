"""How long parts of a worker's work take."""

from __future__ import annotations

import asyncio

import pytest
from placewright.runtime.workers.inside.base import Worker


class Actor(Worker):
    def train(self) -> int:
        with self.worker_timer(), self.worker_timer("inner"):
            return 1

    @Worker.timer("update")
    def step(self, batch: int) -> int:
        return batch

    @Worker.timer()
    async def wait(self) -> int:
        """Waits."""
        await asyncio.sleep(0.01)
        return 2


def test_a_block_is_measured_under_its_tag_or_the_function_that_it_is_in() -> None:
    actor = Actor()
    assert actor.train() == 1
    found = actor.pop_execution_times()
    assert list(found) == ["inner", "train"]
    assert found["train"] >= found["inner"] > 0
    assert actor.pop_execution_times() == {}


def test_methods_and_coroutines_are_measured_and_seconds_add_up() -> None:
    actor = Actor()
    assert (actor.step(3), asyncio.run(actor.wait())) == (3, 2)
    once = actor.pop_execution_time("wait")
    assert once >= 0.01
    for _ in range(2):
        asyncio.run(actor.wait())
    assert actor.pop_execution_time("wait") >= 0.02
    assert Actor.wait.__doc__ == "Waits."


def test_what_was_not_measured_is_said_with_what_was() -> None:
    actor = Actor()
    actor.step(1)
    with pytest.raises(ValueError, match="no time has the tag `train`, only `update`"):
        actor.pop_execution_time("train")


def test_a_block_that_raises_is_measured_too() -> None:
    actor = Actor()
    with pytest.raises(KeyError), actor.worker_timer("broken"):
        raise KeyError
    assert list(actor.pop_execution_times()) == ["broken"]
