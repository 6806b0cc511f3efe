"""Components that share some accelerators, and neither uses all that the other one does."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Iterator

from ...models.findings.finding import Finding, warning
from ...models.findings.wording import plural
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..mended import MOST_TRIED, breaks_nothing
from ..mends import moved_off, moved_onto
from ..stretches import Places, held_alike
from ..wording import listed, lowest


class PartialOverlap:
    """Components that share accelerators mostly hold the same ones, or one lies within the other; these two overlap in part.

    Each component is compared with the smallest of the larger ones that it meets: cost grows with stretches and components,
    not with pairs.
    """

    code: ClassVar[str] = "PW802"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        nodes, alike = held_alike(problem, assignment)
        amounts = {places: sum(mask.bit_count() * len(nodes[number]) for number, mask in places) for places in alike}
        ordered = sorted(alike, key=lambda places: -amounts[places])
        for position, (small, large, shared, (number, mask)) in enumerate(_overlaps(ordered, amounts, nodes)):
            one, other, first = listed(alike[small]), listed(alike[large]), nodes[number].start
            message = f"{one} and {other} overlap in part: {shared} {plural('accelerator', shared)} (first: {lowest(mask)} on node {first})"
            message += f" of {amounts[small]} and {amounts[large]}"
            changes = self._changes(problem, alike[small], alike[large]) if position < MOST_TRIED else []
            yield warning(
                self.code, alike[small][0], message, problem[alike[small][0]].span("placement"), label=f"overlaps {other}",
                help="; or ".join(changes) or "give them the same ranks, or ranks that do not meet", witnesses=(first, lowest(mask)), amount=shared,
            )  # fmt: skip

    def _changes(self, problem: Problem, small: list[str], large: list[str]) -> list[str]:
        """What mends it, if one change of ranks moves all that are alike."""
        if any(len({problem[name].spans.get("placement", name) for name in alike}) > 1 for alike in (small, large)):
            return []
        pair = problem[small[0]], problem[large[0]]
        return [mend.text for mend in (*moved_off(problem, *pair), *moved_onto(problem, *pair)) if breaks_nothing(mend)]


def _overlaps(
    ordered: list[Places], amounts: dict[Places, int], nodes: list[range]
) -> Iterator[tuple[Places, Places, int, tuple[int, int]]]:
    """(places, larger ones that they overlap in part, how much they share, a stretch and what they share on each node of it).

    `smallest` says of every accelerator which of the sets so far is the last one on it. A set within the last one of those
    that it meets has that one everywhere.
    """
    smallest: dict[int, list[tuple[int, int]]] = {}
    for position, places in enumerate(ordered):
        met: Counter[int] = Counter()
        shared: dict[int, tuple[int, int]] = {}
        for number, mask in places:
            before = smallest.get(number, [])
            for piece, owner in before:
                if both := piece & mask:
                    met[owner] += both.bit_count() * len(nodes[number])
                    shared.setdefault(owner, (number, both))
            smallest[number] = [(mask, position), *((piece & ~mask, owner) for piece, owner in before if piece & ~mask)]
        if met and met[max(met)] < amounts[places]:
            yield places, ordered[max(met)], met[max(met)], shared[max(met)]
