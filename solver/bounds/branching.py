"""Branch and bound over the linear relaxation, on counts of domains.

A count is a sum of indicators over all domains. Rounding a count moves the relaxation; rounding the
indicator of one of many equal domains does not.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import replace
from math import floor
from typing import Iterable, Mapping, Sequence

from ...models.record import dataclass
from ..objectives.term import Aggregate
from .relaxation import Box, Emptiness, LinearModel, LinearRelaxation, LinearRow, Point, proved_bound

WHOLE = 1e-5
"""Integrality tolerance of a count."""


@dataclass(frozen=True)
class CountModel:
    """Linear model with count variables.

    Attributes
    ----------
    levels : branching candidates by priority: counts over all domains, counts over large domains,
        single indicators. A level is used while it has a fractional variable. Each maps variables
        to the cost of one unit.
    indicators : 0/1 variables that are counted.
    """

    linear: LinearModel
    levels: tuple[dict[int, int], ...]
    indicators: tuple[int, ...]


def with_counts(linear: LinearModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> CountModel:
    """Add a variable per count, and per count over domains of a minimum capacity.

    `wider` are indicators to decide first: the parts of the tree then differ in what earlier tiers
    fixed, such as the zone of a component.
    """
    boxes, rows = list(linear.boxes), list(linear.rows)
    wholes, partials, single = dict[int, int](), dict[int, int](), dict[int, int]()
    first = {
        indicator.index: aggregate.cost  # type: ignore[attr-defined]
        for aggregate in wider
        for indicator, _ in aggregate.members
        if not isinstance(indicator, int)
    }
    cost: dict[object, int] = {}
    members: dict[object, list[tuple[int, int]]] = {}
    for aggregate in aggregates:
        cost[aggregate.key] = cost.get(aggregate.key, 0) + aggregate.cost
        members[aggregate.key] = [
            (indicator.index, capacity)  # type: ignore[attr-defined]
            for indicator, capacity in aggregate.members
            if not isinstance(indicator, int)
        ]
    for key, counted_members in members.items():
        counted_members.sort(key=lambda member: -member[1])
        for position, (indicator, capacity) in enumerate(counted_members, start=1):
            single[indicator] = single.get(indicator, 0) + cost[key]
            last = position == len(counted_members)
            if last or counted_members[position][1] < capacity:
                total = len(boxes)
                boxes.append((0, position))
                rows.append(LinearRow(0, 0, (*(index for index, _ in counted_members[:position]), total), (*[1] * position, -1)))
                (wholes if last else partials)[total] = cost[key]
    return CountModel(replace(linear, boxes=boxes, rows=rows), (first, wholes, partials, single), tuple(single))


@dataclass(frozen=True)
class Subproblem:
    """Open part of the tree: boxes of the counts, a proved lower bound and the relaxation's
    optimum.

    The optimum holds only the values of branching candidates, in the order of `Tree.branched`:
    there may be thousands of parts.
    """

    bound: int
    boxes: Mapping[int, Box]
    values: array[float]


class Tree:
    """Search tree with its open parts, lowest bound first.

    Parameters
    ----------
    levels : branching candidates by priority, each with the cost of one unit; see `CountModel.levels`.

    Attributes
    ----------
    root : optimum of the root relaxation; None if GLOP fails.
    branched : branching candidate -> position in the values of a part.
    nodes, work : relaxations solved and their simplex iterations; both deterministic.
    """

    def __init__(self, relaxation: LinearRelaxation, levels: Sequence[Mapping[int, int]]) -> None:
        self._relaxation, self._levels = relaxation, levels
        self._heap: list[tuple[int, int, int, Subproblem]] = []
        self._settled: int | None = None
        self._emptiness: Emptiness | None = None
        self.branched = {
            variable: position for position, variable in enumerate(dict.fromkeys(variable for level in levels for variable in level))
        }
        self.nodes, self.work, self._order = 0, 0, 0
        self.root: Point | None = None
        self._add({}, None, None)

    @property
    def bound(self) -> int | None:
        """Lower bound over all parts that were not dropped; None if all were dropped."""
        bounds = [subproblem.bound for *_, subproblem in self._heap[:1]]
        return min(bounds + ([] if self._settled is None else [self._settled]), default=None)

    @property
    def is_open(self) -> bool:
        """True if a part is left to branch on."""
        return bool(self._heap)

    def best(self, count: int) -> list[Subproblem]:
        """Return open parts with the lowest bounds."""
        return [subproblem for *_, subproblem in heapq.nsmallest(count, self._heap)]

    def branch(self, upper: int | None) -> Subproblem | None:
        """Divide the part with the lowest bound; return it undivided if all counts are integral.

        Parts that cost `upper` or more are dropped: they cannot improve the incumbent.
        """
        while self._heap:
            *_, subproblem = heapq.heappop(self._heap)
            if upper is not None and subproblem.bound >= upper:
                continue
            variable = self._most_fractional(subproblem)
            if variable is None:
                self._settle(subproblem.bound)
                return subproblem
            low, high = subproblem.boxes.get(variable) or self._relaxation.linear.boxes[variable]
            middle = floor(subproblem.values[self.branched[variable]])
            for box in ((low, middle), (middle + 1, high)):
                self._add({**subproblem.boxes, variable: box}, subproblem, upper)
            return None
        return None

    def _add(self, boxes: Mapping[int, Box], parent: Subproblem | None, upper: int | None) -> None:
        """Solve a part and push it unless proved empty.

        A part that GLOP fails to solve keeps the bound of its parent.
        """
        if any(low > high for low, high in boxes.values()):
            return
        point = self._relaxation.solve(boxes)
        self.nodes += 1
        if point is None:
            if parent is not None and not self._is_empty(boxes):
                self._settle(parent.bound)
            return
        self.work += self._relaxation.iterations
        bound = proved_bound(self._relaxation.linear, boxes, point.duals)
        if parent is None:
            self.root = point
        else:
            bound = max(bound, parent.bound)
        values = array("d", (point.values[variable] for variable in self.branched))
        self._order += 1
        heapq.heappush(self._heap, (bound, -len(boxes), -self._order, Subproblem(bound, boxes, values)))

    def _is_empty(self, boxes: Mapping[int, Box]) -> bool:
        if self._emptiness is None:
            self._emptiness = Emptiness(self._relaxation.linear, self.branched)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _settle(self, bound: int) -> None:
        """Close a part; its bound still counts."""
        self._settled = bound if self._settled is None else min(self._settled, bound)

    def _most_fractional(self, subproblem: Subproblem) -> int | None:
        for level in self._levels:
            best, fractional = 0.0, None
            for variable, cost in level.items():
                fraction = subproblem.values[self.branched[variable]] % 1.0
                distance = min(fraction, 1.0 - fraction)
                if distance > WHOLE and cost * distance > best:
                    best, fractional = cost * distance, variable
            if fractional is not None:
                return fractional
        return None
