"""Launches that are started again beside other jobs: without what these hold, and as they were where that is all there is."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import Iterator

import pytest
from placewright.models.component import Component
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.port.port import RayBundle
from placewright.runtime.progress import Step
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from placewright.runtime.recovery.nodes import count_occupied
from placewright.runtime.reserving.reservation import NodeDemand, Reservation
from placewright.solver.searching.search import solve

from ..fake import FakePort
from ..fake_cluster import FakeHold
from .launching import Trainer, codes, plan_of, problem


@contextmanager
def launched(port: FakePort, asked: Problem, share: bool = False, restarts: int = 1, told: list[Step] | None = None) -> Iterator[Launch]:
    with ExitStack() as stack:
        progress = ([] if told is None else told).append
        yield bring_up(stack, plan_of(asked), port, Trainer, 60, progress, policy=RestartPolicy(restarts, asked, solve), share_nodes=share)
    assert set(port.left_over().get("holds", [])) <= {"other", "another"}


def other_job(port: FakePort, node: str, count: float, name: str = "other") -> Reservation:
    reservation = Reservation(port, name, [NodeDemand(RayBundle(node, {"GPU": count}), "", "")])
    reservation.acquire()
    return reservation


def nodes(running: Launch) -> set[str]:
    return {row.node for row in running.audit}


def on_any(accelerators: int, cluster: str) -> Problem:
    """An actor of so many processes, each of one accelerator, anywhere."""
    return Problem(read_shorthand(cluster), Job((Component("actor", least=accelerators, most=accelerators),)))


def test_what_a_lost_node_had_goes_where_no_other_job_is() -> None:
    port = FakePort(4, 4, 4)
    asked = problem("3x4xH100", 4)
    with launched(port, asked) as running:
        (used,) = nodes(running)
        rest = [rank for rank in range(3) if f"node-{rank}" != used]
        other_job(port, f"ray-{rest[0]}", 1)
        port.lose_node(int(used[-1]))
        recovery = running.recover()
        assert nodes(running) == {f"node-{rest[1]}"}
        assert recovery.taken == () and running.plan.cluster.total() == 8


def test_what_was_taken_between_two_starts_is_given_up_and_the_rest_of_the_cluster_used() -> None:
    class Greedy(FakePort):
        """As soon as a launch releases what it holds, another job has it."""

        given = False

        def release(self, hold: FakeHold) -> None:
            super().release(hold)
            if not self.given and hold.name != "other":
                self.given = True
                other_job(self, hold.bundles[0].node_id, 4)

    port = Greedy(4, 4)
    with launched(port, problem("2x4xH100", 4)) as running:
        (before,) = nodes(running)
        port.kill(port.actors[0].start.name)
        recovery = running.recover()
        assert recovery.taken == (before,) and recovery.lost == ()
        assert nodes(running).isdisjoint({before})
        assert f"beside the jobs that took `{before}`: 2 of 2 groups moved, 2 were on such nodes" in str(recovery)


def test_where_other_jobs_leave_no_room_it_ends_and_says_so() -> None:
    port = FakePort(4, 4)
    with launched(port, problem("2x4xH100", 4)) as running:
        (used,) = nodes(running)
        free = 1 - int(used[-1])
        other_job(port, f"ray-{free}", 1)
        port.lose_node(int(used[-1]))
        with pytest.raises(LaunchFailed) as caught:
            running.recover()
        assert codes(caught.value)[-1] == "PW714"
        assert "the node that is left of 2, 1 of them with accelerators of other jobs" in str(caught.value)
        assert port.left_over() == {"holds": ["other"]}


def test_shared_nodes_take_what_others_leave_of_a_node_and_no_more() -> None:
    port = FakePort(4, 4)
    with launched(port, on_any(4, "2x4xH100"), share=True) as running:
        (used,) = nodes(running)
        other_job(port, f"ray-{1 - int(used[-1])}", 1)
        port.lose_node(int(used[-1]))
        with pytest.raises(LaunchFailed, match="fit no longer"):
            running.recover()
    port = FakePort(4, 4, 4)
    with launched(port, on_any(4, "3x4xH100"), share=True) as running:
        (used,) = nodes(running)
        others = [f"ray-{rank}" for rank in range(3) if f"node-{rank}" != used]
        for node, name in zip(others, ("other", "another")):
            other_job(port, node, 1, name)
        port.lose_node(int(used[-1]))
        running.recover()
        assert len(nodes(running)) == 2 and len(running.audit) == 4
        assert "0" not in {row.visible[0] for row in running.audit}
        assert not any(node.taken for node in running.plan.cluster.nodes)


def test_what_no_reservation_says_counts_as_held_after_a_moment() -> None:
    class Lagging(FakePort):
        """Counts what was released as held for a while."""

        until = 0.3

        def nodes(self) -> list:  # type: ignore[type-arg]
            found = super().nodes()
            if self.time < self.until:
                found = [
                    type(node)(node.node_id, node.name, node.address, node.labels, node.total, {**node.free, "GPU": 0.0}) for node in found
                ]
            return found

    assert count_occupied(Lagging(4)) == {}
    lagging = Lagging(4)
    lagging.until = 60.0
    assert count_occupied(lagging) == {"ray-0": 4}
    port = FakePort(4, 4)
    other_job(port, "ray-0", 1.5)
    other_job(port, "ray-1", 2, "another")
    assert count_occupied(port) == {"ray-0": 2, "ray-1": 2}
