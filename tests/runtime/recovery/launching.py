"""A launch on the fake cluster that may lose something, and what is asked of it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import Any, Callable, Iterator

from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import OnStep, silent
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from placewright.solver.searching.search import solve

from ..fake import FakePort


class Trainer:
    """Takes a step."""

    def step(self) -> str:
        """Answers when its process does."""
        return "stepped"


def problem(cluster: str, least: int, most: int = 0) -> Problem:
    """An actor in groups of two accelerators, one process each."""
    actor = Component("actor", least=least, most=most or least, parallel=Parallel(tp=2))
    return Problem(read_shorthand(cluster), Job((actor,)))


def plan_of(asked: Problem) -> Plan:
    plan = solve(asked).plan
    assert plan is not None
    return plan


@contextmanager
def launched(port: FakePort, asked: Problem, restarts: int = 1, given: Problem | None = None, told: OnStep = silent) -> Iterator[Launch]:
    with ExitStack() as stack:
        yield bring_up(stack, plan_of(asked), port, Trainer, 60, told, policy=RestartPolicy(restarts, given or asked, solve))
    assert port.left_over() == {}


def places(running: Launch) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Rank -> its node and accelerators."""
    return {row.rank: (row.node, row.visible) for row in running.audit}


def codes(failure: LaunchFailed) -> list[str]:
    return [finding.code for finding in failure.findings]


def hanging(port: FakePort) -> Callable[[Launch], Any]:
    """A function that takes a step of an hour as long as this is the first start, and is short later."""
    seen: list[str] = []

    def train(running: Launch) -> list[str]:
        if not seen:
            port.slow |= {actor.start.name: 3600.0 for actor in port.actors if not actor.dead}
        seen.append(running.plan.digest)
        return running.call("actor", "step")

    return train
