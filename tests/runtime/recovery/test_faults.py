"""Whatever call to the cluster fails on the way through a loss and a recovery: nothing is left."""

from __future__ import annotations

from contextlib import ExitStack

from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from placewright.solver.searching.search import solve

from ..fake import FakePort, Fault
from .launching import Trainer, plan_of, problem

ASKED = problem("3x2xH100", 4)
PLAN = plan_of(ASKED)


def through_a_loss(port: FakePort) -> None:
    """A launch that loses a node at its first step, recovers, and takes the step again."""

    def train(running: Launch) -> None:
        if not running.recoveries:
            port.lose_node(0)
        running.call("actor", "step")

    with ExitStack() as stack:
        bring_up(stack, PLAN, port, Trainer, 60, silent, policy=RestartPolicy(1, ASKED, solve)).run(train)


def test_every_call_in_turn() -> None:
    whole = FakePort(2, 2, 2)
    through_a_loss(whole)
    survived = []
    for number in range(1, len(whole.calls) + 1):
        port = FakePort(2, 2, 2, fail_at=number)
        try:
            through_a_loss(port)
            survived.append(number)
        except (Fault, LaunchFailed):
            pass
        assert port.left_over() == {}, f"call {number}, {port.calls[number - 1]}"
    assert len(whole.calls) > 40
    assert survived  # as a fault while the loss is being noticed is
