"""Faults that only real processes can show, on the shared cluster, which must be empty again after each."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack

import pytest
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import launch
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.progress import Step
from placewright.runtime.reserving.reservation import Reservation, node_demand
from placewright.runtime.workers.group import Gang, WorkerGroup
from placewright.runtime.workers.inside.host import Reporter
from placewright.runtime.workers.member import members_of
from placewright.runtime.world.inventory import inventory
from placewright.runtime.world.matching import match_machines

from ...unhindered import unhindered
from ..conftest import Planner

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("worker_classes")]


def test_a_worker_that_is_killed_while_nobody_calls_is_seen_by_who_watches(plan: Planner, address: str) -> None:
    with launch(plan("2x4", actor=(Run(range(2), 0),)), address=address) as running:
        os.kill(running.audit[1].pid, signal.SIGKILL)
        began = unhindered()
        with pytest.raises(LaunchFailed, match="rank 1 of `actor` on `node-0` died") as caught:
            running.watch(60)
        assert unhindered() - began < 2
    assert caught.value.findings[0].code == "PW704"


def test_a_port_that_somebody_else_took_first_is_told_with_the_line_that_wanted_it(plan: Planner, address: str) -> None:
    taken = pytest.raises(LaunchFailed, match="rank 0 of `actor` on `node-0` could not be constructed: OSError")
    with taken as caught, launch(plan("2x4", actor=(Run(range(2), 0),)), address=address, worker="workers:Crowded"):
        pytest.fail("it was launched")
    assert caught.value.findings[0].code == "PW703"
    assert "own.bind" in caught.value.traceback


def test_workers_that_meet_at_rank_0_find_its_port_free(plan: Planner, address: str) -> None:
    with launch(plan("2x4", actor=(Run(range(2), 0),), critic=(Run(range(2), 0),)), address=address, worker="workers:Meeting") as running:
        assert running.call_all("met") == {"actor": [2, 2], "critic": [2, 2]}


def test_a_name_that_is_taken_is_told_and_the_other_worker_lives(plan: Planner, address: str) -> None:
    port = RayPort()
    with ExitStack() as stack:
        gangs = []
        for node in (0, 1):
            made = plan("2x4", actor=(Run(range(1), node),))
            ((rank, found),) = match_machines(made, inventory(port)).items()
            reservation = Reservation(port, f"taken-{node}", [node_demand(found)])
            stack.callback(reservation.release)
            reservation.acquire()
            group = WorkerGroup(port, "actor", members_of(made, "actor", "taken", found.ray.address), Reporter)
            gangs.append(Gang(port, reservation, {rank: 0}, [group]))
            stack.callback(gangs[-1].kill)
        gangs[0].start(60)
        with pytest.raises(LaunchFailed, match="there is a worker `taken/actor/0` already") as caught:
            gangs[1].start(60)
        assert caught.value.findings[0].code == "PW717"
        assert gangs[0].groups["actor"].call("environment")[0]["RANK"] == "0"


def test_an_interrupt_at_every_step_leaves_nothing(plan: Planner, address: str) -> None:
    steps = 0
    while _interrupted(plan, address, steps):
        steps += 1
        assert RayPort().names() == set()
        assert steps < 20
    assert steps == 3 + 2 * 2  # three steps before the workers; none and then one ready, twice


def _interrupted(plan: Planner, address: str, steps: int) -> bool:
    """Was a launch interrupted after so many steps, because it has more of them?"""
    told: list[Step] = []

    def interrupt(step: Step) -> None:
        told.append(step)
        if len(told) > steps:
            raise KeyboardInterrupt

    try:
        with launch(plan("2x4", actor=(Run(range(1), 1),)), address=address, progress=interrupt):
            return False
    except KeyboardInterrupt:
        return True
