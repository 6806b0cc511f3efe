"""Result of a start."""

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
    """Started and audited workers of a plan.

    Attributes
    ----------
    name : name of the reservation, and prefix of the workers' names.
    plan : the running plan.
    groups : component -> workers.
    audit : actual location of every worker, a row per process.
    monitor : detects losses.
    unchecked : demands on nodes that could not be seen.
    given : replacements of accelerators named in the plan, on shared nodes.
    """

    name: str
    plan: Plan
    groups: Mapping[str, WorkerGroup]
    audit: tuple[AuditRow, ...]
    monitor: Monitor
    unchecked: tuple[Unchecked, ...]
    given: tuple[Given, ...] = ()
