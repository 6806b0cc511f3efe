"""Audit of running workers: location, visible accelerators, sharing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.placements.placement import Placement
from ...models.placements.plan import Plan
from ..failure import LaunchFailed, quote_names
from ..workers.calls import ranks_by_component
from ..world.matching import Match
from ..world.vendors import VARIABLES, vendor_of


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Worker as it reports itself.

    `visible`: physical accelerator ids; `differences`: empty if correct.

    `devices`: unique identifiers of the visible accelerators: UUIDs if a driver reported them, else
    Ray's node and the id there. `planned`: the accelerators it should see, as (node rank, physical
    id).
    """

    component: str
    rank: int
    world_size: int
    node_rank: int
    node: str
    ray_node: str
    host: str
    pid: int
    local_rank: int
    local_world_size: int
    visible: tuple[str, ...]
    differences: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    planned: frozenset[tuple[int, str]] = frozenset()


_LEVEL_ZERO = re.compile(r"level_zero:(\d+(?:,\d+)*)")


def find_hiding_variable(accelerator_type: str, visible: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return which variable hides accelerators, in words; "" if none does.

    AMD: HIP counts what ROCR_VISIBLE_DEVICES leaves. Intel: ONEAPI_DEVICE_SELECTOR counts what
    ZE_AFFINITY_MASK leaves, from 0. Sources: ROCm, "GPU isolation techniques"; oneAPI DPC++,
    EnvironmentVariables.
    """
    beneath = environment.get("ROCR_VISIBLE_DEVICES", "")
    visible_count = len([id for id in beneath.split(",") if id])
    if accelerator_type == "AMD_GPU" and beneath and any(id.isdecimal() and int(id) >= visible_count for id in visible):
        return f"ROCR_VISIBLE_DEVICES is {beneath}, which leaves {visible_count} accelerators; HIP_VISIBLE_DEVICES is {','.join(visible)}"
    selector = _LEVEL_ZERO.search(environment.get("ONEAPI_DEVICE_SELECTOR", ""))
    if accelerator_type == "INTEL_GPU" and selector and not set(map(str, range(len(visible)))) <= set(selector[1].split(",")):
        return f"ONEAPI_DEVICE_SELECTOR is {selector[0]}, which counts from 0 what ZE_AFFINITY_MASK leaves: {','.join(visible)}"
    return ""


Planned = frozenset[tuple[int, str]]


def find_sharing_against_plan(rows: Sequence[AuditRow]) -> Iterator[Finding]:
    """Yield a PW712 per set of workers that see common accelerators against the plan.

    An accelerator is known by its UUID if a driver reports it, which also finds an accelerator that
    two nodes count as theirs.
    """
    users_by_plan: dict[str, dict[Planned, list[AuditRow]]] = {}
    for row in rows:
        for device in row.devices:
            users_by_plan.setdefault(device, {}).setdefault(row.planned, []).append(row)
    devices_by_offenders: dict[tuple[AuditRow, ...], list[str]] = {}
    for device, by_plan in users_by_plan.items():
        offending = [users for devices_of_plan, users in by_plan.items() if any(map(devices_of_plan.isdisjoint, by_plan))]
        if offending:
            devices_by_offenders.setdefault(tuple(row for users in offending for row in users), []).append(device)
    for offenders, devices in devices_by_offenders.items():
        yield _finding(devices, offenders)


def _finding(devices: Sequence[str], rows: Sequence[AuditRow]) -> Finding:
    hosts = quote_names(dict.fromkeys(row.host for row in rows))
    device_names = ", ".join(device.rpartition("/")[2] for device in devices)
    plural, verb = ("accelerators", "are") if len(devices) > 1 else ("accelerator", "is")
    names = ranks_by_component((row.component, row.rank) for row in rows)
    workers_text = " and ".join(f"`{component}` rank {ranks}" for component, ranks in names.items())
    message = f"{plural} {device_names} of {hosts} {verb} seen by {workers_text}, which the plan keeps apart"
    help = "look for what sets the visibility variable there, and for two nodes that count the same accelerators as theirs"
    return error("PW712", rows[0].component, message, help=help, witnesses=tuple(devices), amount=len(devices))


ALL = "all"
"""Marker for a process from which no accelerator is hidden."""


def audit(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """Return a row per process, by component and rank, from the workers' reports."""
    rows = []
    for component in plan.components:
        placements = plan.placements(component)
        for placement, report in zip(placements, reports[component]):
            match = matches[placement.node_rank]
            row = compare(component, placement, len(placements), match.ray.node_id, report)
            physical_ids = [accelerator.physical_id for accelerator in match.node.accelerators]
            devices_of_plan = frozenset((placement.node_rank, id) for id in placement.visible_accelerators)
            rows.append(replace(row, devices=device_ids(row.visible, physical_ids, report), planned=devices_of_plan))
    return tuple(rows)


def check_reports(plan: Plan, matches: Mapping[int, Match], reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[AuditRow, ...]:
    """Audit. Raises LaunchFailed (PW706, PW712) for any difference from the plan."""
    rows = audit(plan, matches, reports)
    different = tuple(findings(rows))
    if different:
        raise LaunchFailed(*different)
    return rows


def device_ids(visible: Sequence[str], node_ids: Sequence[str], report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return unique identifiers of the visible accelerators; `node_ids`: all ids of the node."""
    uuids: Mapping[str, str] = report.get("devices", {})
    ids = (uuids or node_ids) if ALL in visible else visible
    return tuple(uuids.get(id) or (id if "-" in id else f"{report['node']}/{id}") for id in ids)


def compare(component: str, placement: Placement, world_size: int, ray_node: str, report: Mapping[str, Any]) -> AuditRow:
    """Compare a worker's report with its Placement; `ray_node`: Ray's id of the planned node."""
    environment: Mapping[str, str] = report["environment"]
    visible = visible_accelerators(placement, environment)
    pairs: list[tuple[str, object, object]] = [
        ("Ray node", ray_node, report["node"]),
        ("accelerators", ",".join(placement.visible_accelerators) or "none", ",".join(visible) or "none"),
    ]
    variables = {
        "RANK": placement.rank,
        "WORLD_SIZE": world_size,
        "CLUSTER_NODE_RANK": placement.node_rank,
        "NODE_RANK": placement.placement_node_rank,
        "NODE_LOCAL_RANK": placement.local_rank,
        "NODE_LOCAL_WORLD_SIZE": placement.local_world_size,
    }
    pairs += [(name, str(value), environment.get(name, "unset")) for name, value in variables.items()]
    differences = tuple(f"{label} is {actual}, the plan says {plan_value}" for label, plan_value, actual in pairs if plan_value != actual)
    if reason := find_hiding_variable(placement.accelerator_type, visible, environment):
        differences = (*differences, reason)
    return AuditRow(
        component, _number(environment, "RANK"), _number(environment, "WORLD_SIZE"), _number(environment, "CLUSTER_NODE_RANK"),
        placement.node_id, report["node"], report["host"], report["pid"],
        _number(environment, "NODE_LOCAL_RANK"), _number(environment, "NODE_LOCAL_WORLD_SIZE"), visible, differences,
    )  # fmt: skip


def visible_accelerators(placement: Placement, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the visible accelerators; without any on the node, by all variables."""
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
    """Yield a PW706 per difference, and a PW712 per wrongly shared accelerator (`find_sharing_against_plan`)."""
    for row in rows:
        for difference in row.differences:
            message = f"`{row.component}` process {row.pid} on `{row.host}`: {difference}"
            help = "look for what sets it in the worker class or on the node"
            yield error("PW706", row.component, message, help=help, witnesses=(row.rank,))
    yield from find_sharing_against_plan(rows)
