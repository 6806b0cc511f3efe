"""The rows of a model over uses of domains, made smaller by what costs prove; and counts to branch on."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Container, Iterable, Mapping

from ...models.record import dataclass
from ..bounds.exact import priced, rounded
from ..bounds.glop import Point
from ..bounds.linear_rows import LinearModel, Row, linear_model
from ..cuts.domains_of_subsets import rows as subset_rows
from .master import Master
from .uses import Uses

NEAR = 1e-6
"""What a number that is 0 may be by rounding."""


@dataclass(frozen=True)
class Rows:
    """A linear model over uses of domains.

    Attributes
    ----------
    times : variable -> the number of its option: how many domains are used by it.
    held : variable -> the number of its option: what its domains hold.
    levels : what to branch on, the first as long as any of them is no whole number: counts of one bundle, of several, of one bundle
        in domains of one kind, domains of one use. Each maps variables to what one more weighs.
    """

    linear: LinearModel
    times: Mapping[int, int]
    held: Mapping[int, int]
    levels: tuple[dict[int, int], ...] = ()

    def unlikely(self, point: Point, excess: float) -> dict[int, int]:
        """Uses that an optimum of the relaxation has not, and would take only at a cost beyond the excess: 0."""
        return {times: 0 for times in self.times if point.reduced[times] > excess and point.values[times] < NEAR}

    def too_dear(self, point: Point, upper: int) -> set[int]:
        """Uses that no solution has which costs less than `upper`: proved in whole numbers, whatever the duals of the point are."""
        total, left = priced(self.linear, point.duals)
        for variable, cost in left.items():
            low, high = self.linear.boxes[variable]
            total += cost * (low if cost > 0 else high)
        return {times for times in self.times if left.get(times, 0) > 0 and rounded(self.linear, total + left[times]) >= upper}

    def without(self, gone: Container[int]) -> Rows:
        """Without some uses, and what their domains hold."""
        lost = {option for times, option in self.times.items() if times in gone}
        kept = [each for each in range(len(self.linear.boxes)) if each not in gone and self.held.get(each) not in lost]
        number = {variable: position for position, variable in enumerate(kept)}
        rows = []
        for row in self.linear.rows:
            its = [(number[variable], coefficient) for variable, coefficient in zip(row.variables, row.coefficients) if variable in number]
            if its or not row.variables:
                rows.append(Row(row.low, row.high, tuple(variable for variable, _ in its), tuple(coefficient for _, coefficient in its)))
        smaller = LinearModel(
            [self.linear.boxes[variable] for variable in kept], _renamed(self.linear.costs, number), self.linear.offset, rows
        )
        return Rows(
            smaller, _renamed(self.times, number), _renamed(self.held, number), tuple(_renamed(each, number) for each in self.levels)
        )


def rows_of(master: Master) -> Rows:
    """The rows of the model, with nothing to branch on."""
    times = {variable.index: option for option, variable in enumerate(master.times)}
    held = {variable.index: option for option, each in master.together.items() for variable in each.cells.values()}
    return Rows(linear_model(master.model), times, held)


def with_counts(rows: Rows, uses: Uses) -> Rows:
    """With a variable for every count: in how many domains some of a bundle, or of any of several, is.

    Of some sets of bundles it is known how many domains they need at least (see cuts/domains_of_subsets.py).
    """
    layout, times = uses.layout, {variable: uses.options[option] for variable, option in rows.times.items()}
    number = {bundle: position for position, bundle in enumerate(layout.counted)}
    least = {frozenset(number[each] for each in its if each in number): need for its, need in subset_rows(layout, uses.levels[0])}
    weighed = sorted({bundle for members in least for bundle in members})
    boxes, found = list(rows.linear.boxes), list(rows.linear.rows)
    levels: tuple[dict[int, int], ...] = ({}, {}, {}, dict.fromkeys(times, 1))

    def count(level: dict[int, int], low: int, high: int, bundles: Iterable[int], kinds: Container[int]) -> None:
        its = [each for each, option in times.items() if option.kind in kinds and any(option.has(bundle) for bundle in bundles)]
        if its or low:
            found.append(Row(0, 0, (*its, len(boxes)), (*[1] * len(its), -1)))
            level[len(boxes)] = 1
            boxes.append((low, high))

    every = range(len(uses.kinds))
    for size in range(1, len(weighed) + 1):
        for members in map(frozenset, combinations(weighed, size)):
            count(levels[min(size, 2) - 1], least.get(members, 0), sum(len(kind.domains) for kind in uses.kinds), members, every)
    for bundle in weighed:
        for kind in every:
            count(levels[2], 0, len(uses.kinds[kind].domains), (bundle,), (kind,))
    return replace(rows, linear=replace(rows.linear, boxes=boxes, rows=found), levels=levels)


def _renamed(its: Mapping[int, int], number: Mapping[int, int]) -> dict[int, int]:
    return {number[variable]: value for variable, value in its.items() if variable in number}
