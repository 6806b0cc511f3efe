"""The only structures of a question that may have a design that is better than the plan, where a component takes some percent of its times."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping, NamedTuple, Sequence

from .....models.record import dataclass
from ...searching.structures.structure import Structure


class Span(NamedTuple):
    """From one percent of a component's times to another."""

    low: int
    high: int

    def holds(self, other: Span) -> bool:
        """Is another within it?"""
        return self.low <= other.low and other.high <= self.high


@dataclass
class Among:
    """Structures that were listed with some percent of a component's times.

    Attributes
    ----------
    component, percent : with which they were listed; 100 of none: with the times as they were.
    floors : each of them with the ns that none of its designs takes less of there, those that take least first.
    spans : for each component the percents at which nothing is better than the plan but designs of these.
    rounded : ns that times may be more there than in proportion, since they are whole multiples of the batches.
    """

    component: str
    percent: int
    floors: Mapping[Structure, int]
    spans: Mapping[str, Span]
    rounded: int
    _without: dict[tuple[str, Structure], Span] = field(default_factory=dict)
    """Where it is proved that a structure has nothing better."""

    def covers(self, component: str, span: Span) -> bool:
        """Is nothing else better than the plan at any percent of these?"""
        return component in self.spans and self.spans[component].holds(span)

    def of(self, component: str, span: Span, percent: int, most: int) -> list[Structure]:
        """Those that may have a design that is better at one of these percents, and takes no more than `most` ns at one of them."""
        share = min(percent, self.percent)
        found = []
        for structure, floor in self.floors.items():
            without = self._without.get((component, structure))
            if (without is None or not without.holds(span)) and (floor - self.rounded) * share <= most * self.percent:
                found.append(structure)
        return found

    def rule_out(self, component: str, span: Span, structures: Sequence[Structure]) -> None:
        """Of these it is proved that they have nothing better there."""
        for each in structures:
            self._without[component, each] = span
