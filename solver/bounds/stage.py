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
from .relaxation import Box, Emptiness, LinearModel, LinearRelaxation, LinearRow, linear_model, proved_bound

AMONG = 8
"""Factor between parts examined and parts returned by `likely`."""
A_MODEL, A_STEP, A_NODE = 4e-5, 2e-8, 6e-6
"""Seconds per row, measured: to read the model, per simplex step, and per relaxation."""
NEAR = 1e-6
"""Integrality tolerance of an indicator."""
WHOLE = 1e-5
"""Integrality tolerance of a count."""
Levels = tuple[dict[int, int], ...]
"""Branching candidates by priority, each with the cost of one unit.

What is decided first, counts over all domains, counts over large domains, single indicators. A
level is used while it has a fractional variable.
"""


def root_seconds(model: cp_model.CpModel) -> float:
    """Return metered seconds of the root relaxation: about one step per row (measured)."""
    return A_STEP * len(model.proto.constraints) ** 2


def with_counts(linear: LinearModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate]) -> tuple[LinearModel, Levels]:
    """Add a variable per count, and per count over domains of a minimum capacity.

    `wider` are indicators to decide first: the parts of the tree then differ in what earlier tiers
    fixed, such as the zone of a component.
    """
    boxes, rows = list(linear.boxes), list(linear.rows)
    wholes, partials, single = dict[int, int](), dict[int, int](), dict[int, int]()
    first = {indicator: aggregate.cost for aggregate in wider for indicator, _ in _indicators(aggregate)}
    cost: dict[object, int] = {}
    members: dict[object, list[tuple[int, int]]] = {}
    for aggregate in aggregates:
        cost[aggregate.key] = cost.get(aggregate.key, 0) + aggregate.cost
        members[aggregate.key] = _indicators(aggregate)
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
    return replace(linear, boxes=boxes, rows=rows), (first, wholes, partials, single)


def _indicators(aggregate: Aggregate) -> list[tuple[int, int]]:
    """Return (index of an indicator, capacity) of the open members."""
    return [
        (indicator.index, capacity)  # type: ignore[attr-defined]
        for indicator, capacity in aggregate.members
        if not isinstance(indicator, int)
    ]


@dataclass(frozen=True)
class Subproblem:
    """Open part of the tree: boxes of the counts, proved lower bound, optimum of the relaxation.

    The optimum holds only the values of branching candidates, in the order of `BoundStage._branched`:
    there may be thousands of parts.
    """

    bound: int
    boxes: Mapping[int, Box]
    values: array[float]


class BoundStage:
    """Lower bound of a model with one tier, improved by every call of `advance`.

    A search tree with its open parts, lowest bound first.

    Attributes
    ----------
    is_solved : True if GLOP solved the root relaxation; otherwise all other members are meaningless.
    nodes, work : relaxations solved and their simplex iterations; both deterministic.
    """

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> None:
        linear, self._levels = with_counts(linear_model(model), aggregates, wider)
        self._relaxation = LinearRelaxation(linear)
        self._heap: list[tuple[int, int, int, Subproblem]] = []
        self._settled: int | None = None
        self._emptiness: Emptiness | None = None
        self._branched = {
            variable: position for position, variable in enumerate(dict.fromkeys(variable for level in self._levels for variable in level))
        }
        self.nodes, self.work, self._order = 0, 0, 0
        self._add({}, None)
        self.is_solved = bool(self._heap)

    @property
    def bound(self) -> int | None:
        """Lower bound over all parts that were not dropped; None if all were dropped."""
        bounds = [subproblem.bound for *_, subproblem in self._heap[:1]]
        return min(bounds + ([] if self._settled is None else [self._settled]), default=None)

    @property
    def is_open(self) -> bool:
        """True if a part is left to branch on: the bound can still grow."""
        return bool(self._heap)

    @property
    def spent(self) -> float:
        """Seconds of metered work so far."""
        return len(self._relaxation.linear.rows) * (A_MODEL + A_STEP * self.work + A_NODE * self.nodes)

    def advance(self, upper: int | None, limit: float, nodes: int) -> None:
        """Branch until the limit of time or nodes is reached or the bound meets `upper`."""
        until, most = self.spent + limit, self.nodes + nodes
        while self.is_open and self.spent < until and self.nodes < most:
            bound = self.bound
            if upper is not None and bound is not None and bound >= upper:
                break
            self._branch(upper)

    def likely(self, count: int = 1) -> list[dict[int, int]]:
        """Return the integral indicators of `count` parts, with their values.

        Of the ``AMONG * count`` parts with the lowest bounds, ties prefer the most integral
        indicators.
        """
        subproblems = [subproblem for *_, subproblem in heapq.nsmallest(AMONG * count, self._heap)]
        integral = [(subproblem.bound, self._integral(subproblem)) for subproblem in subproblems]
        return [values for _, values in sorted(integral, key=lambda entry: (entry[0], -len(entry[1])))[:count]]

    def _integral(self, subproblem: Subproblem) -> dict[int, int]:
        """Return the integral indicators of a part's optimum, with their values."""
        values = {indicator: subproblem.values[self._branched[indicator]] for indicator in self._levels[-1]}
        return {indicator: round(value) for indicator, value in values.items() if abs(value - round(value)) < NEAR}

    def _branch(self, upper: int | None) -> None:
        """Divide the part with the lowest bound, or settle it if all counts are integral.

        Parts that cost `upper` or more are dropped: they cannot improve the incumbent.
        """
        while self._heap:
            *_, subproblem = heapq.heappop(self._heap)
            if upper is not None and subproblem.bound >= upper:
                continue
            variable = self._most_fractional(subproblem)
            if variable is None:
                self._settle(subproblem.bound)
                return
            low, high = subproblem.boxes.get(variable) or self._relaxation.linear.boxes[variable]
            middle = floor(subproblem.values[self._branched[variable]])
            for box in ((low, middle), (middle + 1, high)):
                self._add({**subproblem.boxes, variable: box}, subproblem)
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
        bound = proved_bound(self._relaxation.linear, boxes, point.duals)
        bound = bound if parent is None else max(bound, parent.bound)
        values = array("d", (point.values[variable] for variable in self._branched))
        self._order += 1
        heapq.heappush(self._heap, (bound, -len(boxes), -self._order, Subproblem(bound, boxes, values)))

    def _is_empty(self, boxes: Mapping[int, Box]) -> bool:
        if self._emptiness is None:
            self._emptiness = Emptiness(self._relaxation.linear, self._branched)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _settle(self, bound: int) -> None:
        """Close a part; its bound still counts."""
        self._settled = bound if self._settled is None else min(self._settled, bound)

    def _most_fractional(self, subproblem: Subproblem) -> int | None:
        for level in self._levels:
            best, fractional = 0.0, None
            for variable, cost in level.items():
                fraction = subproblem.values[self._branched[variable]] % 1.0
                distance = min(fraction, 1.0 - fraction)
                if distance > WHOLE and cost * distance > best:
                    best, fractional = cost * distance, variable
            if fractional is not None:
                return fractional
        return None
