"""What a start comes to: the workers of a plan, each where it shall be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ...models.findings.finding import Unchecked
from ...models.placements.plan import Plan
from ..watching.audit_row import AuditRow
from ..watching.monitor import Monitor
from ..workers.group import WorkerGroup
from .sharing import Given


@dataclass(frozen=True)
class Running:
    """The workers of a plan, started and audited.

    Attributes
    ----------
    name : of its reservation, with which the names of its workers begin.
    plan : what runs.
    groups : component -> its workers.
    audit : where each worker really is, one row a process.
    monitor : sees what of it is lost.
    unchecked : what the plan asks of its nodes that nobody could see.
    given : of nodes that are shared, where others stand for the accelerators that the plan names.
    """

    name: str
    plan: Plan
    groups: Mapping[str, WorkerGroup]
    audit: tuple[AuditRow, ...]
    monitor: Monitor
    unchecked: tuple[Unchecked, ...]
    given: tuple[Given, ...] = ()
