"""Several gangs in one reservation: each starts and ends alone, what fails takes nobody else with it, and what is held stays held."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import Any, Iterator

import pytest
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.port.ray_compat import send_by_value
from placewright.runtime.reserving.reservation import Reservation, node_demand
from placewright.runtime.running.monitor import Monitor
from placewright.runtime.workers.group import Gang, WorkerGroup
from placewright.runtime.workers.member import members_of
from placewright.runtime.world.inventory import inventory
from placewright.runtime.world.matching import Match, match_machines

from ..conftest import Planner
from ..fake import FakePort


class Steady:
    """Knows its rank."""

    def rank(self) -> int:
        return int(os.environ["RANK"])


class Picky:
    """Cannot be constructed on rank 1."""

    def __init__(self) -> None:
        if os.environ["RANK"] == "1":
            raise ValueError("not here")


Held = tuple[Reservation, dict[int, Match]]


@contextmanager
def held(port: Any, plan: Plan) -> Iterator[Held]:
    matches = match_machines(plan, inventory(port))
    reservation = Reservation(port, "placewright-test-gangs", [node_demand(each) for each in matches.values()])
    try:
        reservation.acquire()
        yield reservation, matches
    finally:
        reservation.release()


def gang(port: Any, plan: Plan, where: Held, component: str, worker: type, name: str = "") -> Gang:
    reservation, matches = where
    members = members_of(plan, component, name or component, "127.0.0.1")
    return Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, [WorkerGroup(port, component, members, worker)])


def shown(port: Any, plan: Plan) -> None:
    """The same on any port."""
    with held(port, plan) as where:
        actor, critic = gang(port, plan, where, "actor", Steady), gang(port, plan, where, "critic", Picky)
        actor.start(60)
        with pytest.raises(LaunchFailed, match="rank 1 of `critic` on `node-1` could not be constructed: ValueError: not here"):
            critic.start(60)
        assert actor.groups["actor"].call("rank") == [0, 1]
        again = gang(port, plan, where, "critic", Steady)  # the names are free again, on the same accelerators
        again.start(60)
        assert again.groups["critic"].call("rank") == [0, 1]
        actor.kill()
        assert again.groups["critic"].call("rank") == [0, 1]
        assert [holding.name for holding in port.holdings()] == ["placewright-test-gangs"]
        assert port.names() == {member.name for member in again.groups["critic"].members}
        nodes = {rank: found.ray.node_id for rank, found in where[1].items()}
        monitor = Monitor(port, where[0].hold, nodes, [*actor.groups.values(), *again.groups.values()])
        assert monitor.step() is None  # those that were ended are no loss
        where[0].release()
        failure = monitor.step()
        assert failure is not None and failure.findings[0].code == "PW704"
    with pytest.raises(LaunchFailed):
        again.groups["critic"].call("rank", timeout=10)


def plan_of(plan: Planner) -> Plan:
    runs = (Run(range(1), 0), Run(range(1, 2), 1))
    return plan("2x4", actor=runs, critic=runs)


def test_two_gangs_in_one_reservation(plan: Planner) -> None:
    port = FakePort(4, 4)
    shown(port, plan_of(plan))
    assert port.left_over() == {}


@pytest.mark.ray
def test_two_gangs_in_one_reservation_on_real_ray(plan: Planner, address: str) -> None:
    send_by_value(sys.modules[__name__])
    shown(RayPort(), plan_of(plan))
