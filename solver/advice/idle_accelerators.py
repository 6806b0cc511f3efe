"""Advice PW801: accelerators without a component."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar, Iterator

from ...models.findings.finding import Finding, Severity
from ...models.findings.wording import are, plural, with_noun
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment
from ...models.planning.workload import ACCELERATORS, Workload
from ...models.problem import Problem
from ...models.ranks import merge, write_ranks
from ..stretches import stretches

SHOWN = 6
"""Largest number of note lines."""
COMPARED = "by the times of its components a job may be best so: `solve` compares these ranks with the best plan"
"""Help for timed jobs: only a search can compare a plan that leaves accelerators idle."""


class IdleAccelerators:
    """Some accelerators are used and others are idle, in a fully placed job.

    Accelerators of another job do not count as idle. The finding is a warning if fewer accelerators
    are idle than used: a job that fills most of a cluster is likely meant to fill it. It is a note
    for a small job on a large cluster and for a job with times, as its counts are chosen by time or
    by a budget. Where the framework reserves whole nodes, idle accelerators are lost to all other
    jobs: always a warning.
    """

    code: ClassVar[str] = "PW801"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        if problem.hinted or not problem.cluster.counted:
            return
        idle: list[tuple[range, int]] = []
        total = used = 0
        for nodes, node, masks in stretches(problem, assignment):
            mask = 0
            for (_, kind), component_mask in masks.items():
                mask |= component_mask if kind == ACCELERATOR else 0
            total += len(node.accelerators) * len(nodes)
            used += mask.bit_count() * len(nodes)
            if rest := node.free(ACCELERATOR) & ~mask:
                idle.append((nodes, rest))
        count = sum(rest.bit_count() * len(nodes) for nodes, rest in idle)
        if used and count:
            reserved, workload = problem.job.capabilities.reserves_nodes, problem.job.planning.workload
            warns = reserved or (count < used and workload is None)
            message = f"{count} of {with_noun(total, 'accelerator')} {are(count)} held by no component"
            message += ", on nodes that are reserved whole" if reserved else ""
            request = _asked(workload, used, total) if workload else ""
            yield Finding(
                self.code, Severity.WARNING if warns else Severity.INFO, "", message + (f": {request}" if request else ""),
                help=COMPARED if workload and not request else "",
                notes=tuple(_lines(idle)), witnesses=(idle[0][0].start,), amount=count,
            )  # fmt: skip


def _asked(workload: Workload, used: int, total: int) -> str:
    """Return the file's request for idle accelerators; "" without such a request."""
    limit = workload.budget.accelerators
    if limit is not None and used <= limit < total:
        return f"`budget` allows {limit}"
    return "`minimise: accelerators` asks for as few as can be" if workload.aim == ACCELERATORS else ""


def _lines(idle: list[tuple[range, int]]) -> Iterator[str]:
    """Yield one line per stretch of nodes with the same idle accelerators."""
    lines = []
    for mask, stretch in groupby(idle, key=lambda stretch: stretch[1]):
        (nodes, *rest) = merge([nodes for nodes, _ in stretch])
        for run in (nodes, *rest):
            indexes = write_ranks(merge([range(index, index + 1) for index in range(mask.bit_length()) if mask >> index & 1]))
            lines.append(f"on {plural('node', len(run))} {write_ranks((run,))}: {plural('accelerator', mask.bit_count())} {indexes}")
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"and {len(lines) - SHOWN} more such stretches of nodes"
