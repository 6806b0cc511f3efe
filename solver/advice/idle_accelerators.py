"""Accelerators that nobody uses."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar, Iterator

from ...models.findings.finding import Finding, Severity
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment
from ...models.placements.ranks import merge, write_ranks
from ...models.problem import Problem
from ..stretches import stretches
from ..wording import plural

SHOWN = 6
"""How many lines of nodes are shown."""


class IdleAccelerators:
    """Accelerators that no component holds and no other job has taken, where some are held and nothing is left to solve.

    A warning where fewer are idle than held: what fills most of a cluster is likely meant to fill it. A small job on a
    large cluster is only told so, unless the framework reserves whole nodes: then nobody else gets them.
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
            reserved = problem.job.capabilities.reserves_nodes
            verb, severity = "is" if count == 1 else "are", Severity.WARNING if count < used or reserved else Severity.INFO
            message = f"{count} of {total} accelerators {verb} held by no component"
            message += ", on nodes that are reserved whole" if reserved else ""
            yield Finding(self.code, severity, "", message, notes=tuple(_lines(idle)), witnesses=(idle[0][0].start,), amount=count)


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
