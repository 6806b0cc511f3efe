"""Whatever call of the port fails, and whether it took effect before: the fault comes out, and nothing is left."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import Step

from ..fake import FakePort, Fault
from .everywhere import Counting, Scene, brought_up, carries, outcomes, two_components


def launched(port: Any) -> None:
    with ExitStack() as stack:
        brought_up(stack, port)


def called(port: Any) -> None:
    with ExitStack() as stack:
        running = brought_up(stack, port)
        assert running.call_all("add", 2) == {"actor": [2] * 4, "agent": [2] * 2}
        assert running.call("actor", "add", 1) == [3] * 4


def stopped_twice(port: Any) -> None:
    with ExitStack() as stack:
        running = brought_up(stack, port)
        try:
            running.stop()
        finally:
            running.stop()


def launched_beside_another(port: Any) -> None:
    with ExitStack() as stack:
        brought_up(stack, port, _one_node(0))
        with ExitStack() as inner:
            brought_up(inner, port, _one_node(1))


def _one_node(node: int) -> Plan:
    return replace(two_components(), assignment=Assignment({"actor": (Run(range(4), node),)}), cpus={})


SCENES = [launched, called, stopped_twice, launched_beside_another]


@pytest.mark.parametrize("kind", [Fault, KeyboardInterrupt])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_left_wherever_it_fails(scene: Scene, after: bool, kind: type[BaseException]) -> None:
    seen = []
    for call, problem, port in outcomes(scene, kind, after):
        assert carries(problem, kind), (call, len(seen) + 1)
        if (call, after) != ("hold", True):  # what is held without our knowing ends with the connection, which is not of the port
            assert port.left_over() == {}, (call, len(seen) + 1)
        seen.append(call)
    assert {"nodes", "hold", "state", "start", "ask", "answer", "release"} <= set(seen)


@pytest.mark.parametrize("scene", SCENES)
def test_without_a_fault_nothing_is_left_either(scene: Scene) -> None:
    port = FakePort(4, 4)
    scene(port)
    assert port.left_over() == {}


def test_an_interrupt_at_every_step_leaves_nothing() -> None:
    """A step is told before it is taken, and each time a worker is ready."""
    steps = 0
    while (last := _interrupted(steps)) is not None:
        steps += 1
        assert steps < 100, last
    assert steps == 1 + 2 * 7  # reserving; none, and then each of six, ready and constructed


def _interrupted(steps: int) -> Step | None:
    """The step at which a launch was interrupted after so many others; None if there are no more."""
    port, told = FakePort(4, 4), list[Step]()

    def interrupt(step: Step) -> None:
        told.append(step)
        if len(told) > steps:
            raise KeyboardInterrupt

    try:
        with ExitStack() as stack:
            bring_up(stack, two_components(), port, Counting, 60.0, interrupt)
    except KeyboardInterrupt:
        assert port.left_over() == {}, told[-1]
        return told[-1]
    assert str(told[-1]) == "constructing: actor 4/4, agent 2/2"
    return None
