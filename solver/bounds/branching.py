"""Branch and bound over the linear relaxation, on counts of domains.

Such a count is a sum over all domains. Rounding it up or down moves the relaxation where rounding the indicator of one domain, of which
there are many alike, does not.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import replace
from math import floor
from typing import Callable, Iterable, Mapping, Sequence

from ...models.record import dataclass
from ..objectives.term import Aggregate
from .relaxation import Box, Emptiness, LinearModel, Point, Relaxation, Row, proved_bound

WHOLE = 1e-5
"""What a count may differ from a whole number by rounding."""


@dataclass(frozen=True)
class Counted:
    """A linear model with its counts.

    Attributes
    ----------
    levels : what to branch on, the first as long as any of them is no whole number: counts over all domains, counts over those
        domains that hold much, single indicators. Each maps variables to what one more costs.
    indicators : the variables of 0 or 1 that are counted.
    apart : the same, those of each count together: one for each domain.
    """

    linear: LinearModel
    levels: tuple[dict[int, int], ...]
    indicators: tuple[int, ...]
    apart: tuple[tuple[int, ...], ...]


def with_counts(linear: LinearModel, aggregates: Iterable[Aggregate]) -> Counted:
    """The model with a variable for every count, and one for every part of it over domains that hold at least so much."""
    boxes, rows = list(linear.boxes), list(linear.rows)
    wholes, parts, single = dict[int, int](), dict[int, int](), dict[int, int]()
    cost: dict[object, int] = {}
    members: dict[object, list[tuple[int, int]]] = {}
    for each in aggregates:
        cost[each.key] = cost.get(each.key, 0) + each.cost
        members[each.key] = [(there.index, room) for there, room in each.members if not isinstance(there, int)]  # type: ignore[attr-defined]
    for key, its in members.items():
        its.sort(key=lambda member: -member[1])
        for position, (indicator, room) in enumerate(its, start=1):
            single[indicator] = single.get(indicator, 0) + cost[key]
            last = position == len(its)
            if last or its[position][1] < room:
                counted = len(boxes)
                boxes.append((0, position))
                rows.append(Row(0, 0, (*(index for index, _ in its[:position]), counted), (*[1] * position, -1)))
                (wholes if last else parts)[counted] = cost[key]
    apart = tuple(tuple(indicator for indicator, _ in its) for its in members.values())
    return Counted(replace(linear, boxes=boxes, rows=rows), (wholes, parts, single), tuple(single), apart)


def nothing(point: Point) -> Sequence[Row]:
    """No rows are looked for."""
    return ()


@dataclass(frozen=True)
class Part:
    """A part of the tree: the boxes of the counts there, a proved bound on it, and the optimum of its relaxation.

    Of the optimum only what may be branched on is kept, in the order of `Tree.branched`: there may be thousands of parts.
    """

    bound: int
    boxes: Mapping[int, Box]
    values: array[float]


class Tree:
    """The parts that are still open, the one with the lowest bound first.

    Parameters
    ----------
    levels : what to branch on, the first of them as long as any of it is no whole number: variables, with what one more costs.
    missed : rows that every solution satisfies and an optimum does not; they are added to the relaxation.

    Attributes
    ----------
    root : the optimum of the whole; None where GLOP does not solve it.
    branched : what may be branched on -> its position in the values of a part.
    nodes, work : how many relaxations were solved, and with how many steps: both the same every time.
    """

    def __init__(
        self, relaxation: Relaxation, levels: Sequence[Mapping[int, int]], missed: Callable[[Point], Sequence[Row]] = nothing
    ) -> None:
        self._relaxation, self._levels, self._missed = relaxation, levels, missed
        self._heap: list[tuple[int, int, int, Part]] = []
        self._settled: int | None = None
        self._emptiness: Emptiness | None = None
        self.branched = {variable: position for position, variable in enumerate(dict.fromkeys(each for level in levels for each in level))}
        self.nodes, self.work, self._order = 0, 0, 0
        self.root: Point | None = None
        self._add({}, None, None)

    @property
    def bound(self) -> int | None:
        """What no solution costs less than that is in a part which is not dropped; None if all are."""
        found = [part.bound for *_, part in self._heap[:1]]
        return min(found + ([] if self._settled is None else [self._settled]), default=None)

    @property
    def is_open(self) -> bool:
        """Is there anything left to branch on?"""
        return bool(self._heap)

    def best(self, count: int) -> list[Part]:
        """Open parts with the lowest bounds."""
        return [part for *_, part in heapq.nsmallest(count, self._heap)]

    def branch(self, upper: int | None) -> Part | None:
        """Divide the part with the lowest bound; returns it instead where all that is counted is whole, so that there is nothing to divide.

        Parts that cost `upper` or more are dropped: they hold nothing better than what is known.
        """
        while self._heap:
            *_, part = heapq.heappop(self._heap)
            if upper is not None and part.bound >= upper:
                continue
            variable = self._most_fractional(part)
            if variable is None:
                self._settle(part.bound)
                return part
            low, high = part.boxes.get(variable) or self._relaxation.linear.boxes[variable]
            middle = floor(part.values[self.branched[variable]])
            for box in ((low, middle), (middle + 1, high)):
                self._add({**part.boxes, variable: box}, part, upper)
            return None
        return None

    def _add(self, boxes: Mapping[int, Box], parent: Part | None, upper: int | None) -> None:
        """Solve a part and keep it, unless it is proved to be empty. One that GLOP does not solve stays as it was known before."""
        if any(low > high for low, high in boxes.values()):
            return
        point = self._solved(boxes)
        if point is None:
            if parent is not None and not self._is_empty(boxes):
                self._settle(parent.bound)
            return
        bound = self._proved(boxes, point, parent)
        rows = self._missed(point) if upper is None or bound < upper else ()
        if rows:
            self._relaxation.add(rows)
            tighter = self._solved(boxes)
            if tighter is not None:  # else what is known of the part stays true
                point, bound = tighter, max(bound, self._proved(boxes, tighter, parent))
        if parent is None:
            self.root = point
        values = array("d", (point.values[variable] for variable in self.branched))
        part = Part(bound, boxes, values)
        self._order += 1
        heapq.heappush(self._heap, (part.bound, -len(boxes), -self._order, part))

    def _solved(self, boxes: Mapping[int, Box]) -> Point | None:
        point = self._relaxation.solve(boxes)
        self.nodes += 1
        self.work += self._relaxation.iterations if point else 0
        return point

    def _proved(self, boxes: Mapping[int, Box], point: Point, parent: Part | None) -> int:
        bound = proved_bound(self._relaxation.linear, boxes, point.duals)
        return bound if parent is None else max(bound, parent.bound)

    def _is_empty(self, boxes: Mapping[int, Box]) -> bool:
        rows = len(self._relaxation.linear.rows)
        if self._emptiness is None or self._emptiness.rows < rows:
            self._emptiness = Emptiness(self._relaxation.linear, self.branched)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _settle(self, bound: int) -> None:
        """Nothing more will be found out of a part."""
        self._settled = bound if self._settled is None else min(self._settled, bound)

    def _most_fractional(self, part: Part) -> int | None:
        for level in self._levels:
            best, found = 0.0, None
            for variable, cost in level.items():
                fraction = part.values[self.branched[variable]] % 1.0
                away = min(fraction, 1.0 - fraction)
                if away > WHOLE and cost * away > best:
                    best, found = cost * away, variable
            if found is not None:
                return found
        return None
