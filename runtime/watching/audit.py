"""Is every worker where its Placement says, and alone where it should be? What each reports of itself, beside what the plan says."""

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
"""What a process sees from which nothing is hidden."""


def audit(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """One row for each process, components in the order of the plan, ranks ascending.

    `reports`: component -> what each worker reported (see workers/inside/host.py), by rank.
    """
    rows = []
    for component in plan.components:
        its = plan.placements(component)
        for placement, report in zip(its, reports[component]):
            match = matches[placement.node_rank]
            row = compare(component, placement, len(its), match.ray.node_id, report)
            there = [accelerator.physical_id for accelerator in match.node.accelerators]
            planned = frozenset((placement.node_rank, id) for id in placement.visible_accelerators)
            rows.append(replace(row, devices=identified(row.visible, there, report), planned=planned))
    return tuple(rows)


def agreed(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """As `audit`. Raises LaunchFailed (PW706, PW712) where anything is not as the plan says."""
    rows = audit(plan, matches, reports)
    different = tuple(findings(rows))
    if different:
        raise LaunchFailed(*different)
    return rows


def identified(visible: Sequence[str], there: Sequence[str], report: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells the accelerators that a worker sees from all others; `there` are the ids of its node, should it see them all."""
    uuids: Mapping[str, str] = report.get("devices", {})
    ids = (uuids or there) if ALL in visible else visible
    return tuple(uuids.get(id) or (id if "-" in id else f"{report['node']}/{id}") for id in ids)


def compare(component: str, placement: Placement, world_size: int, ray_node: str, report: Mapping[str, Any]) -> AuditRow:
    """One worker's report beside its Placement; `ray_node` is Ray's id of the node that it belongs on."""
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
    differences = tuple(f"{what} is {found}, the plan says {wanted}" for what, wanted, found in pairs if wanted != found)
    if why := hidden(placement.accelerator_type, visible, environment):
        differences = (*differences, why)
    return AuditRow(
        component, _number(environment, "RANK"), _number(environment, "WORLD_SIZE"), _number(environment, "CLUSTER_NODE_RANK"),
        placement.node_id, report["node"], report["host"], report["pid"],
        _number(environment, "NODE_LOCAL_RANK"), _number(environment, "NODE_LOCAL_WORLD_SIZE"), visible, differences,
    )  # fmt: skip


def seen(placement: Placement, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The accelerators that this environment shows; every maker's variable counts on a node that has no accelerators."""
    vendor = vendor_of(placement.accelerator_type)
    names = (vendor.variable,) if vendor else VARIABLES
    return tuple(dict.fromkeys(id for name in names for id in _ids(environment.get(name))))


def _ids(value: str | None) -> list[str]:
    """Unset means that nothing is hidden; that is shown as `all`."""
    return [ALL] if value is None else [id for id in value.split(",") if id]


def _number(environment: Mapping[str, str], name: str) -> int:
    """The value of a variable as a number; -1 if it is none."""
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else -1


def findings(rows: Sequence[AuditRow]) -> Iterator[Finding]:
    """One PW706 for each difference, and one PW712 for accelerators of several workers that should be apart (see apart.py)."""
    for row in rows:
        for difference in row.differences:
            message = f"`{row.component}` process {row.pid} on `{row.host}`: {difference}"
            yield error(
                "PW706", row.component, message, help="look for what sets it in the worker class or on the node", witnesses=(row.rank,)
            )
    yield from together(rows)
