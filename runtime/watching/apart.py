"""Workers that the plan keeps apart and that are on one accelerator all the same."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.findings.finding import Finding, error
from ...models.ranks import merge, write_ranks
from .audit_row import AuditRow

Planned = frozenset[tuple[int, str]]


def together(rows: Sequence[AuditRow]) -> Iterator[Finding]:
    """A PW712 for the accelerators that workers see though the plan gives them none in common; those with the same workers once.

    An accelerator is known by its UUID where a driver tells it, so that one which two nodes both count as theirs is found too.
    """
    seen: dict[str, dict[Planned, list[AuditRow]]] = {}
    for row in rows:
        for device in row.devices:
            seen.setdefault(device, {}).setdefault(row.planned, []).append(row)
    found: dict[tuple[int, ...], list[str]] = {}
    users: dict[tuple[int, ...], list[AuditRow]] = {}
    for device, by_plan in seen.items():
        its = [row for planned, held in by_plan.items() if any(planned.isdisjoint(other) for other in by_plan) for row in held]
        if its:
            found.setdefault(tuple(map(id, its)), []).append(device)
            users[tuple(map(id, its))] = its
    for key, devices in found.items():
        yield _finding(devices, users[key])


def _finding(devices: Sequence[str], rows: Sequence[AuditRow]) -> Finding:
    hosts = ", ".join(f"`{host}`" for host in dict.fromkeys(row.host for row in rows))
    names = ", ".join(device.rpartition("/")[2] for device in devices)
    plural, verb = ("accelerators", "are") if len(devices) > 1 else ("accelerator", "is")
    who = " and ".join(f"`{component}` rank {text}" for component, text in _ranks(rows).items())
    message = f"{plural} {names} of {hosts} {verb} seen by {who}, which the plan keeps apart"
    help = "look for what sets the visibility variable there, and for two nodes that count the same accelerators as theirs"
    return error("PW712", rows[0].component, message, help=help, witnesses=tuple(devices), amount=len(devices))


def _ranks(rows: Sequence[AuditRow]) -> dict[str, str]:
    ranks: dict[str, list[range]] = {}
    for row in rows:
        ranks.setdefault(row.component, []).append(range(row.rank, row.rank + 1))
    return {component: write_ranks(merge(its)) for component, its in ranks.items()}
