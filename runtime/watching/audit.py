"""Audit: comparison of every worker's report with its Placement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.placements.placement import Placement
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..world.matching import Match
from ..world.vendors import VARIABLES, vendor_of
from .apart import together
from .audit_row import AuditRow
from .hidden import hidden

ALL = "all"
"""Marker for a process from which no accelerator is hidden."""


def audit(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """Return a row per process, components in plan order, ranks ascending.

    `reports`: component -> the workers' reports by rank (see workers/inside/host.py).
    """
    rows = []
    for component in plan.components:
        placements = plan.placements(component)
        for placement, report in zip(placements, reports[component]):
            match = matches[placement.node_rank]
            row = compare(component, placement, len(placements), match.ray.node_id, report)
            physical_ids = [accelerator.physical_id for accelerator in match.node.accelerators]
            planned = frozenset((placement.node_rank, id) for id in placement.visible_accelerators)
            rows.append(replace(row, devices=identified(row.visible, physical_ids, report), planned=planned))
    return tuple(rows)


def agreed(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """Audit and require agreement with the plan.

    Raises LaunchFailed (PW706, PW712) otherwise.
    """
    rows = audit(plan, matches, reports)
    different = tuple(findings(rows))
    if different:
        raise LaunchFailed(*different)
    return rows


def identified(visible: Sequence[str], there: Sequence[str], report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return unique identifiers of the visible accelerators; `there`: all ids of the node."""
    uuids: Mapping[str, str] = report.get("devices", {})
    ids = (uuids or there) if ALL in visible else visible
    return tuple(uuids.get(id) or (id if "-" in id else f"{report['node']}/{id}") for id in ids)


def compare(component: str, placement: Placement, world_size: int, ray_node: str, report: Mapping[str, Any]) -> AuditRow:
    """Compare a worker's report with its Placement; `ray_node`: Ray's id of the planned node."""
    environment: Mapping[str, str] = report["environment"]
    visible = seen(placement, environment)
    pairs: list[tuple[str, object, object]] = [
        ("Ray node", ray_node, report["node"]),
        ("accelerators", ",".join(placement.visible_accelerators) or "none", ",".join(visible) or "none"),
    ]
    expected = {
        "RANK": placement.rank,
        "WORLD_SIZE": world_size,
        "CLUSTER_NODE_RANK": placement.node_rank,
        "NODE_RANK": placement.placement_node_rank,
        "NODE_LOCAL_RANK": placement.local_rank,
        "NODE_LOCAL_WORLD_SIZE": placement.local_world_size,
    }
    pairs += [(name, str(value), environment.get(name, "unset")) for name, value in expected.items()]
    differences = tuple(f"{label} is {actual}, the plan says {planned}" for label, planned, actual in pairs if planned != actual)
    if reason := hidden(placement.accelerator_type, visible, environment):
        differences = (*differences, reason)
    return AuditRow(
        component, _number(environment, "RANK"), _number(environment, "WORLD_SIZE"), _number(environment, "CLUSTER_NODE_RANK"),
        placement.node_id, report["node"], report["host"], report["pid"],
        _number(environment, "NODE_LOCAL_RANK"), _number(environment, "NODE_LOCAL_WORLD_SIZE"), visible, differences,
    )  # fmt: skip


def seen(placement: Placement, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the accelerators visible in this environment.

    On a node without accelerators every maker's variable counts.
    """
    vendor = vendor_of(placement.accelerator_type)
    names = (vendor.variable,) if vendor else VARIABLES
    return tuple(dict.fromkeys(id for name in names for id in _ids(environment.get(name))))


def _ids(value: str | None) -> list[str]:
    """Split a visibility variable; unset means that nothing is hidden, shown as `all`."""
    return [ALL] if value is None else [id for id in value.split(",") if id]


def _number(environment: Mapping[str, str], name: str) -> int:
    """Return a variable as a number; -1 if it is none."""
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else -1


def findings(rows: Sequence[AuditRow]) -> Iterator[Finding]:
    """Yield a PW706 per difference, and a PW712 per wrongly shared accelerator (see apart.py)."""
    for row in rows:
        for difference in row.differences:
            message = f"`{row.component}` process {row.pid} on `{row.host}`: {difference}"
            yield error(
                "PW706", row.component, message, help="look for what sets it in the worker class or on the node", witnesses=(row.rank,)
            )
    yield from together(rows)
