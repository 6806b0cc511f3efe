"""Workers on a common accelerator although the plan keeps them apart."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.findings.finding import Finding, error
from ...models.ranks import merge, write_ranks
from .audit_row import AuditRow

Planned = frozenset[tuple[int, str]]


def together(rows: Sequence[AuditRow]) -> Iterator[Finding]:
    """Yield a PW712 per set of workers that see common accelerators against the plan.

    An accelerator is known by its UUID if a driver reports it, which also finds an accelerator that
    two nodes count as theirs.
    """
    users_by_plan: dict[str, dict[Planned, list[AuditRow]]] = {}
    for row in rows:
        for device in row.devices:
            users_by_plan.setdefault(device, {}).setdefault(row.planned, []).append(row)
    shared: dict[tuple[int, ...], list[str]] = {}
    users: dict[tuple[int, ...], list[AuditRow]] = {}
    for device, by_plan in users_by_plan.items():
        offenders = [
            row
            for planned, users_of_plan in by_plan.items()
            if any(planned.isdisjoint(other_plan) for other_plan in by_plan)
            for row in users_of_plan
        ]
        if offenders:
            shared.setdefault(tuple(map(id, offenders)), []).append(device)
            users[tuple(map(id, offenders))] = offenders
    for key, devices in shared.items():
        yield _finding(devices, users[key])


def _finding(devices: Sequence[str], rows: Sequence[AuditRow]) -> Finding:
    hosts = ", ".join(f"`{host}`" for host in dict.fromkeys(row.host for row in rows))
    names = ", ".join(device.rpartition("/")[2] for device in devices)
    plural, verb = ("accelerators", "are") if len(devices) > 1 else ("accelerator", "is")
    workers_text = " and ".join(f"`{component}` rank {text}" for component, text in _ranks(rows).items())
    message = f"{plural} {names} of {hosts} {verb} seen by {workers_text}, which the plan keeps apart"
    help = "look for what sets the visibility variable there, and for two nodes that count the same accelerators as theirs"
    return error("PW712", rows[0].component, message, help=help, witnesses=tuple(devices), amount=len(devices))


def _ranks(rows: Sequence[AuditRow]) -> dict[str, str]:
    ranks: dict[str, list[range]] = {}
    for row in rows:
        ranks.setdefault(row.component, []).append(range(row.rank, row.rank + 1))
    return {component: write_ranks(merge(spans)) for component, spans in ranks.items()}
