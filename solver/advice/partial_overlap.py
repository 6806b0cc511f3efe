"""Advice PW802: components that share only a part of their accelerators."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Iterator

from ...models.findings.finding import Finding, warning
from ...models.findings.wording import plural
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..mended import MOST_TRIED, breaks_nothing
from ..mends import moved_off, moved_onto
from ..stretches import Places, components_by_accelerators
from ..wording import listed, lowest


class PartialOverlap:
    """Two components overlap in part: they share accelerators and neither contains the other.

    Each component is compared with the smallest of the larger components that it meets: the cost
    grows with stretches and components, not with pairs.
    """

    code: ClassVar[str] = "PW802"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        nodes, alike = components_by_accelerators(problem, assignment)
        amounts = {places: sum(mask.bit_count() * len(nodes[number]) for number, mask in places) for places in alike}
        ordered = sorted(alike, key=lambda places: -amounts[places])
        for position, (small, large, shared, (number, mask)) in enumerate(_overlaps(ordered, amounts, nodes)):
            small_names, large_names, first = (listed(alike[small]), listed(alike[large]), nodes[number].start)
            message = f"{small_names} and {large_names} overlap in part: {shared} {plural('accelerator', shared)} (first: {lowest(mask)} on node {first})"
            message += f" of {amounts[small]} and {amounts[large]}"
            changes = self._changes(problem, alike[small], alike[large]) if position < MOST_TRIED else []
            yield warning(
                self.code, alike[small][0], message, problem[alike[small][0]].span("placement"), label=f"overlaps {large_names}",
                help="; or ".join(changes) or "give them the same ranks, or ranks that do not meet", witnesses=(first, lowest(mask)), amount=shared,
            )  # fmt: skip

    def _changes(self, problem: Problem, small: list[str], large: list[str]) -> list[str]:
        """Return fixes that move all components of a set by a single change."""
        if any(len({problem[name].spans.get("placement", name) for name in alike}) > 1 for alike in (small, large)):
            return []
        pair = problem[small[0]], problem[large[0]]
        return [mend.text for mend in (*moved_off(problem, *pair), *moved_onto(problem, *pair)) if breaks_nothing(mend)]


def _overlaps(
    ordered: list[Places], amounts: dict[Places, int], nodes: list[range]
) -> Iterator[tuple[Places, Places, int, tuple[int, int]]]:
    """Yield (places, overlapping larger places, shared accelerators, first shared node and mask).

    `smallest` maps a stretch to pieces of its mask; each piece has the position of the last set
    that covers it. A set that is contained in the last of the sets it meets is contained in it
    everywhere.
    """
    smallest: dict[int, list[tuple[int, int]]] = {}
    for position, places in enumerate(ordered):
        amounts_shared: Counter[int] = Counter()
        shared: dict[int, tuple[int, int]] = {}
        for number, mask in places:
            before = smallest.get(number, [])
            for piece, owner in before:
                if common := piece & mask:
                    amounts_shared[owner] += common.bit_count() * len(nodes[number])
                    shared.setdefault(owner, (number, common))
            smallest[number] = [(mask, position), *((piece & ~mask, owner) for piece, owner in before if piece & ~mask)]
        if amounts_shared and amounts_shared[max(amounts_shared)] < amounts[places]:
            yield (places, ordered[max(amounts_shared)], amounts_shared[max(amounts_shared)], shared[max(amounts_shared)])
