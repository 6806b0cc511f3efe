"""Accelerators that nobody uses."""

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
"""How many lines of nodes are shown."""
COMPARED = "by the times of its components a job may be best so: `solve` compares these ranks with the best plan"
"""What becomes of accelerators that a plan leaves idle is not known without a search."""


class IdleAccelerators:
    """Accelerators that no component holds and no other job has taken, where some are held and nothing is left to solve.

    A warning where fewer are idle than held: what fills most of a cluster is likely meant to fill it. Only told is a small job on a
    large cluster, and one whose components say how long they take: its counts are chosen by time or by a budget, not to fill
    anything. Where the framework reserves whole nodes nobody else gets what is idle: always a warning.
    """

    code: ClassVar[str] = "PW801"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        if problem.hinted or not problem.cluster.counted:
            return
        idle: list[tuple[range, int]] = []
        total = used = 0
        for nodes, node, held in stretches(problem, assignment):
            mask = 0
            for (_, kind), its in held.items():
                mask |= its if kind == ACCELERATOR else 0
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
            asked = _asked(workload, used, total) if workload else ""
            yield Finding(
                self.code, Severity.WARNING if warns else Severity.INFO, "", message + (f": {asked}" if asked else ""),
                help=COMPARED if workload and not asked else "",
                notes=tuple(_lines(idle)), witnesses=(idle[0][0].start,), amount=count,
            )  # fmt: skip


def _asked(workload: Workload, used: int, total: int) -> str:
    """Where the file asks for idle accelerators; "" where it does not."""
    limit = workload.budget.accelerators
    if limit is not None and used <= limit < total:
        return f"`budget` allows {limit}"
    return "`minimise: accelerators` asks for as few as can be" if workload.aim == ACCELERATORS else ""


def _lines(idle: list[tuple[range, int]]) -> Iterator[str]:
    """Which ones, neighbours with the same ones together."""
    lines = []
    for mask, its in groupby(idle, key=lambda each: each[1]):
        (nodes, *rest) = merge([nodes for nodes, _ in its])
        for each in (nodes, *rest):
            which = write_ranks(merge([range(index, index + 1) for index in range(mask.bit_length()) if mask >> index & 1]))
            lines.append(f"on {plural('node', len(each))} {write_ranks((each,))}: {plural('accelerator', mask.bit_count())} {which}")
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"and {len(lines) - SHOWN} more such stretches of nodes"
