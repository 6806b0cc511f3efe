"""Calls to the workers of a launch that another process holds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator, Mapping

from ...models.placements.plan import Plan
from ...models.placements.plan_file import read_plan
from ..failure import LaunchFailed, failed
from ..port.connection import Connection
from ..port.errors import Died
from ..port.on_ray import RayPort
from ..port.port import Port
from ..workers.group import WorkerGroup
from ..workers.member import Member
from .asking import launch_named
from .claim import PLAN
from .directory import directory_of
from .record import RUNNING, Record

NOT_KNOWN = "a class that only the workers know"


@contextmanager
def attach(name: str) -> Iterator[Mapping[str, WorkerGroup]]:
    """Yield component -> workers of a recorded launch; the workers run on after the block.

    Raises LaunchFailed: PW730 for an unknown name, PW733 if it is not running, PW704 if a worker is
    gone.
    """
    status = launch_named(name)
    if status.state != RUNNING:
        if status.findings and not status.alive:
            raise LaunchFailed(*status.findings)
        raise failed("PW733", name, f"`{name}` is {status.state}", "attach when it runs" if status.alive else "launch it again", name)
    plan = read_plan(directory_of(name) / PLAN)
    connection = Connection(status.record.address)
    try:
        connection.open()
        yield attached(RayPort(), plan, status.record)
    finally:
        connection.close()


def attached(port: Port, plan: Plan, record: Record) -> dict[str, WorkerGroup]:
    """Return component -> workers, looked up by actor name.

    Raises LaunchFailed (PW704) if a worker is gone.
    """
    groups: dict[str, WorkerGroup] = {}
    for component in plan.components:
        names = {worker.rank: worker.actor for worker in record.workers if worker.component == component}
        members = [Member(placement, names[placement.rank], {}) for placement in plan.placements(component)]
        group = WorkerGroup(port, component, members, NOT_KNOWN)
        for member in members:
            try:
                group.workers.append(port.find(member.name))
            except Died as problem:
                message = f"rank {member.placement.rank} of `{component}` on `{member.placement.node_id}` is gone: {problem.reason}"
                raise failed("PW704", component, message, "see `placewright status`", member.placement.rank) from None
        groups[component] = group
    return groups
