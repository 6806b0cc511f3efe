"""Advice: legal placements that are probably not intended. The search ignores advice."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar, Iterator, Sequence

from ..models.findings.finding import Finding, Severity, warning
from ..models.findings.wording import are, plural, with_noun
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.planning.workload import ACCELERATORS, Workload
from ..models.problem import Problem
from ..models.ranks import list_ranks, merge, write_ranks
from .check import MOST_TRIED, breaks_nothing
from .rank_fixes import move_off, move_onto
from .stretches import Occupancy, Places, components_by_accelerators
from .wording import join_names, lowest

MAX_STRETCHES = 6
"""Largest number of note lines."""
COMPARE_HELP = "by the times of its components a job may be best so: `solve` compares these ranks with the best plan"
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

    def check(self, problem: Problem, assignment: Assignment, occupancy: Sequence[Occupancy]) -> Iterator[Finding]:
        """Yield warnings and notes about an assignment that passes all rules."""
        if problem.hinted or not problem.cluster.counted:
            return
        idle: list[tuple[range, int]] = []
        total = usage = 0
        for nodes, node, masks in occupancy:
            mask = 0
            for (_, kind), component_mask in masks.items():
                mask |= component_mask if kind == ACCELERATOR else 0
            total += len(node.accelerators) * len(nodes)
            usage += mask.bit_count() * len(nodes)
            if rest := node.free(ACCELERATOR) & ~mask:
                idle.append((nodes, rest))
        count = sum(rest.bit_count() * len(nodes) for nodes, rest in idle)
        if usage and count:
            reserves_nodes, workload = problem.job.capabilities.reserves_nodes, problem.job.planning.workload
            warns = reserves_nodes or (count < usage and workload is None)
            request = _idle_by_request(workload, usage, total) if workload else ""
            message = f"{count} of {with_noun(total, 'accelerator')} {are(count)} unused"
            message += ", on nodes that are reserved whole" * reserves_nodes + (f": {request}" if request else "")
            yield Finding(
                self.code, Severity.WARNING if warns else Severity.NOTE, "", message, help=COMPARE_HELP if workload and not request else "",
                notes=tuple(_lines(idle)), witnesses=(idle[0][0].start,), amount=count,
            )  # fmt: skip


def _idle_by_request(workload: Workload, usage: int, total: int) -> str:
    """Return the file's request for idle accelerators; "" without such a request."""
    limit = workload.budget.accelerators
    if limit is not None and usage <= limit < total:
        return f"`budget` allows {limit}"
    return "`minimise: accelerators` asks for as few as can be" if workload.aim == ACCELERATORS else ""


def _lines(idle: list[tuple[range, int]]) -> Iterator[str]:
    """Yield one line per stretch of nodes with the same idle accelerators."""
    lines = []
    for mask, stretch in groupby(idle, key=lambda stretch: stretch[1]):
        indexes = list_ranks(index for index in range(mask.bit_length()) if mask >> index & 1)
        for run in merge([nodes for nodes, _ in stretch]):
            lines.append(f"on {plural('node', len(run))} {write_ranks((run,))}: {plural('accelerator', mask.bit_count())} {indexes}")
    yield from lines[:MAX_STRETCHES]
    if len(lines) > MAX_STRETCHES:
        yield f"and {len(lines) - MAX_STRETCHES} more such stretches of nodes"


class PartialOverlap:
    """Two components overlap in part: they share accelerators and neither contains the other.

    Each component is compared with the smallest of the larger components that it meets: the cost
    grows with stretches and components, not with pairs.
    """

    code: ClassVar[str] = "PW802"

    def check(self, problem: Problem, assignment: Assignment, occupancy: Sequence[Occupancy]) -> Iterator[Finding]:
        nodes, groups = components_by_accelerators(occupancy)
        amounts = {places: sum(mask.bit_count() * len(nodes[number]) for number, mask in places) for places in groups}
        for position, (small, large, common, (number, mask)) in enumerate(_overlaps(amounts, nodes)):
            large_names, first, index = join_names(groups[large]), nodes[number].start, lowest(mask)
            message = f"{join_names(groups[small])} and {large_names} overlap in part: {common} {plural('accelerator', common)}"
            message += f" (first: {index} on node {first}) of {amounts[small]} and {amounts[large]}"
            changes = _changes(problem, groups[small], groups[large]) if position < MOST_TRIED else []
            yield warning(
                self.code, groups[small][0], message, problem[groups[small][0]].span("placement"), label=f"overlaps {large_names}",
                help="; or ".join(changes) or "give them the same ranks, or ranks that do not meet", witnesses=(first, index), amount=common,
            )  # fmt: skip


def _changes(problem: Problem, small: list[str], large: list[str]) -> list[str]:
    """Return fixes that move all components of a set by a single change."""
    if any(len({problem[name].spans.get("placement", name) for name in names}) > 1 for names in (small, large)):
        return []
    pair = problem[small[0]], problem[large[0]]
    return [mend.text for mend in (*move_off(problem, *pair), *move_onto(problem, *pair)) if breaks_nothing(mend)]


def _overlaps(amounts: dict[Places, int], nodes: Sequence[range]) -> Iterator[tuple[Places, Places, int, tuple[int, int]]]:
    """Yield (places, overlapping larger places, shared accelerators, first shared node and mask).

    `smallest` maps a stretch to pieces of its mask; each piece has the position of the last set
    that covers it. A set contained in the last of the sets that it meets is contained everywhere.
    """
    smallest: dict[int, list[tuple[int, int]]] = {}
    order = sorted(amounts, key=lambda places: -amounts[places])
    for position, places in enumerate(order):
        totals, first = dict[int, int](), dict[int, tuple[int, int]]()
        for number, mask in places:
            before = smallest.get(number, [])
            for piece, owner in before:
                if common := piece & mask:
                    totals[owner] = totals.get(owner, 0) + common.bit_count() * len(nodes[number])
                    first.setdefault(owner, (number, common))
            smallest[number] = [(mask, position), *((piece & ~mask, owner) for piece, owner in before if piece & ~mask)]
        last = max(totals, default=0)
        if 0 < totals.get(last, 0) < amounts[places]:
            yield places, order[last], totals[last], first[last]


class EstimatedMemory:
    """Components need more memory than an accelerator has, by an estimate.

    Declared memory is used as declared; an `estimate` of the file is computed term by term.
    Components without phases are assumed to take turns: the smallest amount that they need
    together. The finding is an error only where the states of one component, all as the file
    writes them, exceed the accelerator; else a warning, as an estimate proves nothing.
    """

    code: ClassVar[str] = "PW805"

    def check(self, problem: Problem, assignment: Assignment, occupancy: Sequence[Occupancy] = ()) -> Iterator[Finding]:
        if any(component.estimate for component in problem.components):
            from .estimated_bill import check_estimates, fits_nowhere  # loaded for estimates alone

            yield from fits_nowhere(problem, self.code)
            yield from check_estimates(problem, assignment, self.code)


ADVICE: tuple[IdleAccelerators | PartialOverlap | EstimatedMemory, ...] = (IdleAccelerators(), PartialOverlap(), EstimatedMemory())
