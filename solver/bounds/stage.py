"""Anytime lower bound of a model: branch and bound on counts of domains.

A count is a sum of indicators over all domains. Rounding a count moves the relaxation; rounding the
indicator of one of many equal domains does not.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import replace
from math import floor
from typing import Iterable, Mapping

from ortools.sat.python import cp_model

from ...models.record import dataclass
from ..objectives.term import Aggregate
from .relaxation import Box, Emptiness, LinearModel, LinearRelaxation, LinearRow, Point, linear_model, proved_bound

AMONG = 8
"""Factor between parts examined and parts returned by `likely`."""
A_MODEL, A_STEP, A_NODE = 4e-5, 2e-8, 6e-6
"""Seconds per row, measured: to read the model, per simplex step, and per relaxation.

Metered work is the same on every machine.
"""
NEAR = 1e-6
"""Tolerance within which an indicator counts as integral."""
WHOLE = 1e-5
"""Integrality tolerance of a count."""


def root_seconds(model: cp_model.CpModel) -> float:
    """Return metered seconds of the root relaxation: about one step per row (measured)."""
    return A_STEP * len(model.proto.constraints) ** 2


@dataclass(frozen=True)
class Counted:
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


def with_counts(linear: LinearModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> Counted:
    """Add a variable per count, and per count over domains of a minimum capacity.

    `wider` are indicators to decide first: the parts of the tree then differ in what earlier tiers
    fixed, such as the zone of a component.
    """
    boxes, rows = list(linear.boxes), list(linear.rows)
    wholes, parts, single = dict[int, int](), dict[int, int](), dict[int, int]()
    first = {indicator: aggregate.cost for aggregate in wider for indicator, _ in _indicators(aggregate)}
    cost: dict[object, int] = {}
    members: dict[object, list[tuple[int, int]]] = {}
    for aggregate in aggregates:
        cost[aggregate.key] = cost.get(aggregate.key, 0) + aggregate.cost
        members[aggregate.key] = sorted(_indicators(aggregate), key=lambda member: -member[1])
    for key, counted_members in members.items():
        for position, (indicator, capacity) in enumerate(counted_members, start=1):
            single[indicator] = single.get(indicator, 0) + cost[key]
            last = position == len(counted_members)
            if last or counted_members[position][1] < capacity:
                total = len(boxes)
                boxes.append((0, position))
                counted_indicators = (index for index, _ in counted_members[:position])
                rows.append(LinearRow(0, 0, (*counted_indicators, total), (*[1] * position, -1)))
                (wholes if last else parts)[total] = cost[key]
    return Counted(replace(linear, boxes=boxes, rows=rows), (first, wholes, parts, single), tuple(single))


def _indicators(aggregate: Aggregate) -> list[tuple[int, int]]:
    """Return (index, capacity) of the members that are variables."""
    members = ((indicator, capacity) for indicator, capacity in aggregate.members if not isinstance(indicator, int))
    return [(indicator.index, capacity) for indicator, capacity in members]  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Subproblem:
    """Open part of the tree: boxes of the counts, a proved lower bound, the relaxation's optimum.

    The optimum holds only the values of branching candidates, in the order of
    `BoundStage.branched`: there may be thousands of parts.
    """

    bound: int
    boxes: Mapping[int, Box]
    values: array[float]


class BoundStage:
    """Lower bound of a model with one tier, improved by every call of `advance`.

    Attributes
    ----------
    size : number of rows of the model.
    root : optimum of the root relaxation; None if GLOP fails: all other members are meaningless.
    branched : branching candidate -> position in the values of a part.
    nodes, work : relaxations solved and their simplex iterations; both deterministic.
    """

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> None:
        self._counted = with_counts(linear_model(model), aggregates, wider)
        self._relaxation = LinearRelaxation(self._counted.linear)
        self.size = len(self._counted.linear.rows)
        self._seen: list[dict[int, int]] = []
        self._heap: list[tuple[int, int, int, Subproblem]] = []
        self._settled: int | None = None
        self._emptiness: Emptiness | None = None
        candidates = dict.fromkeys(variable for level in self._counted.levels for variable in level)
        self.branched = {variable: position for position, variable in enumerate(candidates)}
        self.nodes, self.work, self._order = 0, 0, 0
        self.root: Point | None = None
        self._add({}, None)

    @property
    def bound(self) -> int | None:
        """Lower bound over all parts that were not dropped; None if all were dropped."""
        bounds = [part.bound for *_, part in self._heap[:1]]
        return min(bounds + ([] if self._settled is None else [self._settled]), default=None)

    @property
    def is_open(self) -> bool:
        """True if a part is left to branch on."""
        return bool(self._heap)

    @property
    def spent(self) -> float:
        """Seconds of metered work so far."""
        return self.size * (A_MODEL + A_STEP * self.work + A_NODE * self.nodes)

    def advance(self, upper: int | None, limit: float, nodes: int) -> None:
        """Branch until the limit of time or nodes is reached or the bound meets `upper`."""
        until, most = self.spent + limit, self.nodes + nodes
        while self.is_open and self.spent < until and self.nodes < most:
            if upper is not None and self.bound is not None and self.bound >= upper:
                break
            self._branch(upper)

    def likely(self, count: int = 1) -> list[dict[int, int]]:
        """Return the integral indicators of `count` parts, with their values.

        Of the ``AMONG * count`` parts with the lowest bounds, ties prefer the most integral
        indicators.
        """
        parts = [part for *_, part in heapq.nsmallest(AMONG * count, self._heap)]
        indicators = self._counted.indicators
        integral = [by_value({indicator: part.values[self.branched[indicator]] for indicator in indicators}) for part in parts]
        order = sorted(range(len(parts)), key=lambda number: (parts[number].bound, -len(integral[number])))[:count]
        self._seen += [integral[number] for number in order]
        return [integral[number] for number in order]

    def agreed(self) -> dict[int, int]:
        """Return indicators equal at the root and in all results of `likely` so far."""
        root = self.root
        first = by_value({indicator: root.values[indicator] for indicator in self._counted.indicators}) if root else {}
        return {indicator: value for indicator, value in first.items() if all(seen.get(indicator) == value for seen in self._seen)}

    def _branch(self, upper: int | None) -> None:
        """Divide the part with the lowest bound, or close it if all counts are integral.

        Parts that cost `upper` or more are dropped: they cannot improve the incumbent.
        """
        while self._heap:
            *_, part = heapq.heappop(self._heap)
            if upper is not None and part.bound >= upper:
                continue
            variable = self._most_fractional(part)
            if variable is None:
                self._settle(part.bound)
                return
            low, high = part.boxes.get(variable) or self._counted.linear.boxes[variable]
            middle = floor(part.values[self.branched[variable]])
            for box in ((low, middle), (middle + 1, high)):
                self._add({**part.boxes, variable: box}, part)
            return

    def _add(self, boxes: Mapping[int, Box], parent: Subproblem | None) -> None:
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
        bound = proved_bound(self._counted.linear, boxes, point.duals)
        if parent is None:
            self.root = point
        else:
            bound = max(bound, parent.bound)
        part = Subproblem(bound, boxes, array("d", (point.values[variable] for variable in self.branched)))
        self._order += 1
        heapq.heappush(self._heap, (part.bound, -len(boxes), -self._order, part))

    def _is_empty(self, boxes: Mapping[int, Box]) -> bool:
        if self._emptiness is None:
            self._emptiness = Emptiness(self._counted.linear, self.branched)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _settle(self, bound: int) -> None:
        """Close a part; its bound still counts."""
        self._settled = bound if self._settled is None else min(self._settled, bound)

    def _most_fractional(self, part: Subproblem) -> int | None:
        for level in self._counted.levels:
            best, fractional = 0.0, None
            for variable, cost in level.items():
                fraction = part.values[self.branched[variable]] % 1.0
                distance = min(fraction, 1.0 - fraction)
                if distance > WHOLE and cost * distance > best:
                    best, fractional = cost * distance, variable
            if fractional is not None:
                return fractional
        return None


def by_value(values: Mapping[int, float]) -> dict[int, int]:
    """Return the integral indicators of an optimum, with their values."""
    rounded = {variable: round(value) for variable, value in values.items()}
    return {variable: value for variable, value in rounded.items() if abs(values[variable] - value) < NEAR}
