"""Which structures may have a design that is better than the plan is listed once, and then only these are searched."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...searching.cuts.remembered import Remembered
from ...searching.structures.structure import Structure
from .among import Among, Span
from .flip import HUNDRED
from .scaled import Scaled


class Lists:
    """What was listed of one question.

    With longer times of a component no design takes less, and none takes more than in proportion (see holding.py). So all that is better
    somewhere where it takes longer takes as it is no more than the plan does there: one list serves every component that is slower.
    """

    def __init__(self, number: int) -> None:
        """`number` of the question."""
        self._number = number
        self._its: list[Among] = []

    def reaches(self, component: str, near: int, far: int) -> int | None:
        """The percent farthest on the way from `near` to `far` up to which it is listed what may be better; None if not even there."""
        ends = []
        for each in self._its:
            if each.covers(component, Span(near, near)):
                low, high = each.spans[component]
                ends.append(min(far, high) if far >= near else max(far, low))
        return max(ends, key=lambda end: abs(end - near), default=None)

    def make(self, scaled: Scaled, spans: Mapping[str, Span], rounded: int, limit: float, remembered: Remembered) -> tuple[bool, float]:
        """Lists what this search may find, in so many deterministic seconds; whether there was time for it, and how many it took.

        `spans`: for each component the percents at which nothing is better that this does not find.
        """
        listed = scaled.listing(self._number, limit, remembered)
        if listed.floors is not None:
            its = "" if scaled.percent == HUNDRED else scaled.component
            self._its.append(Among(its, scaled.percent, listed.floors, spans, rounded))
        return listed.floors is not None, listed.spent

    def among(self, scaled: Scaled) -> list[Structure] | None:
        """The only structures that this search may find; None where that is not known."""
        most = scaled.bar[0]
        known = [each for each in self._its if each.covers(scaled.component, scaled.span)] if most is not None else []
        found = (each.of(scaled.component, scaled.span, scaled.percent, most or 0) for each in known)
        return min(found, key=len, default=None)

    def rule_out(self, scaled: Scaled, structures: Sequence[Structure]) -> None:
        """Of these this search found that they have nothing that is better."""
        for each in self._its:
            each.rule_out(scaled.component, scaled.span, structures)
