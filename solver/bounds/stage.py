"""Bound of a model that grows as it is asked for, and indicators to fix."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from ortools.sat.python import cp_model

from ..objectives.term import Aggregate
from .blocks import Block, Facets, blocks
from .branching import Tree, with_counts
from .relaxation import LinearModel, Point, Relaxation, Row, linear_model

ROUNDS, IDLE = 12, 2
"""So often at most the relaxation of the whole is made tighter before it is divided; and so often without growing."""
GROWN = 0.01
"""What counts as growing, in units of the objective's step."""
AMONG = 8
"""Of so many times as many parts those are likely where most is whole."""
A_BLOCK = 4e-4
"""Seconds of a relaxation of a block. Measured, as those below: metered work, the same on every machine."""
A_MODEL, A_STEP, A_NODE = 1e-4, 6e-8, 3e-6
"""Seconds for each row of the model: to read it, of a step of the simplex algorithm, and of a relaxation beside its steps."""


NEAR = 1e-6
WHOLE = 1e-5
"""A block that is whole at a point, but for so much, is not parted from it."""


def root_seconds(model: cp_model.CpModel) -> float:
    """Seconds of metered work that the first relaxation of a model takes: about one step for each row. Measured."""
    return A_STEP * len(model.proto.constraints) ** 2


class BoundStage:
    """The relaxation of a model that minimises one tier, divided further with every call of `advance`."""

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate]) -> None:
        linear = linear_model(model)
        self._counted = with_counts(linear, aggregates)
        self.step = self._counted.linear.step
        self._seen: list[dict[int, int]] = []
        self._linear, self._relaxation = linear, Relaxation(self._counted.linear)
        self._tightening: Tightening | None = None
        self._before = A_MODEL * self.size
        self._tree = Tree(self._relaxation, self._counted.levels)

    def tighten(self, limit: float) -> None:
        """From now on rows are looked for that the relaxation misses, for the whole no longer than the limit, and it is divided anew."""
        if self._tightening is None:
            self._before = self.spent
            self._tightening = Tightening(self._linear, self._counted.apart)
            self._tightening.most = int(limit / A_BLOCK)
            self._tighten(self._tightening)
            self._tree = Tree(self._relaxation, self._counted.levels, self._tightening.rows)

    def _tighten(self, tightening: Tightening) -> None:
        """Add rows to the relaxation of the whole as long as that helps."""
        last, idle = float("-inf"), 0
        for _ in range(ROUNDS):
            point = self._relaxation.solve({})
            if point is None:
                return
            self._before += self.size * (A_STEP * self._relaxation.iterations + A_NODE)
            idle = 0 if point.value > last + GROWN * self.step else idle + 1
            rows = tightening.rows(point) if idle < IDLE else []
            if not rows:
                return
            self._relaxation.add(rows)
            last = max(last, point.value)

    @property
    def is_solved(self) -> bool:
        """Did GLOP solve the relaxation of the whole? If not, nothing here says anything."""
        return self._tree.root is not None

    @property
    def size(self) -> int:
        """How many rows the model has."""
        return len(self._counted.linear.rows)

    @property
    def bound(self) -> int | None:
        """What no solution costs less than, as far as nothing was dropped; None if everything was."""
        return self._tree.bound

    @property
    def is_open(self) -> bool:
        """Could it still grow?"""
        return self._tree.is_open

    @property
    def spent(self) -> float:
        """Seconds of metered work so far."""
        blocks = A_BLOCK * self._tightening.nodes if self._tightening else 0.0
        return self._before + blocks + self.size * (A_STEP * self._tree.work + A_NODE * self._tree.nodes)

    def advance(self, upper: int | None, limit: float, nodes: int) -> None:
        """Divide until the limit of time or nodes is reached or the bound meets `upper`."""
        until, most = self.spent + limit, self._tree.nodes + nodes
        if self._tightening is not None:
            self._tightening.most = self._tightening.nodes + int(limit / A_BLOCK)
        while self._tree.is_open and self.spent < until and self._tree.nodes < most:
            bound = self._tree.bound
            if upper is not None and bound is not None and bound >= upper:
                break
            self._tree.branch(upper)

    def advised(self, excess: float) -> dict[int, int]:
        """Indicators that the relaxation of the whole would change only at a cost beyond the excess, with their values."""
        root = self._tree.root
        return by_reduced_cost(root, self._counted.indicators, excess * self.step) if root else {}

    def likely(self, count: int = 1) -> list[dict[int, int]]:
        """For each of some parts where the bound is lowest the indicators that are 0 or 1 there, with these values; most of them first."""
        at = self._tree.branched
        parts = self._tree.best(AMONG * count)
        found = [by_value({each: part.values[at[each]] for each in self._counted.indicators}) for part in parts]
        order = sorted(range(len(parts)), key=lambda each: (parts[each].bound, -len(found[each])))[:count]
        self._seen += [found[each] for each in order]
        return [found[each] for each in order]

    def agreed(self) -> dict[int, int]:
        """Those that had the same value in all that `likely` ever gave."""
        first = self._seen[0] if self._seen else {}
        return {each: value for each, value in first.items() if all(seen.get(each) == value for seen in self._seen)}


def by_reduced_cost(point: Point, among: Iterable[int], excess: float) -> dict[int, int]:
    """Indicators at 0 or 1 whose change would cost more than the excess, with their values."""
    found = {}
    for variable in among:
        value, cost = point.values[variable], point.reduced[variable]
        if value < NEAR and cost > excess:
            found[variable] = 0
        elif value > 1 - NEAR and cost < -excess:
            found[variable] = 1
    return found


def by_value(values: Mapping[int, float]) -> dict[int, int]:
    """Indicators that are 0 or 1 in an optimum, with these values."""
    found = {variable: round(value) for variable, value in values.items()}
    return {variable: value for variable, value in found.items() if abs(values[variable] - value) < NEAR}


class Tightening:
    """The blocks of a model; those that are alike in all but the numbers of their variables know each other's solutions.

    Parameters
    ----------
    apart : indicators that are in different blocks (see blocks.py).
    """

    def __init__(self, linear: LinearModel, apart: Sequence[Sequence[int]]) -> None:
        self._blocks = blocks(linear, apart)
        self._facets: dict[tuple[object, object], Facets] = {}
        self._settled: dict[int, list[float]] = {}
        self.most = 1 << 60
        """After so many relaxations of blocks no more rows are looked for."""

    @property
    def nodes(self) -> int:
        """Relaxations of blocks that were solved so far; the same every time."""
        return sum(facets.nodes for facets in self._facets.values())

    def rows(self, point: Point) -> list[Row]:
        """Rows that every solution satisfies and the point misses, at most one for each block, as long as there may be more relaxations."""
        found = []
        for block in self._blocks:
            if self.nodes < self.most and (row := self._row(block, [point.values[each] for each in block.variables])):
                found.append(row)
        return found

    def _row(self, block: Block, values: list[float]) -> Row | None:
        if all(abs(value - round(value)) < WHOLE for value in values) or self._is_settled(block, values):
            return None
        key = block.rows, block.boxes
        if key not in self._facets:
            self._facets[key] = Facets(block)
        row = self._facets[key].row(values)
        if row is None:
            self._settled[block.variables[0]] = values
            return None
        return Row(row.low, row.high, tuple(block.variables[each] for each in row.variables), row.coefficients)

    def _is_settled(self, block: Block, values: list[float]) -> bool:
        """Was no row found the last time for the same point?"""
        last = self._settled.get(block.variables[0])
        return last is not None and all(abs(value - other) < WHOLE for value, other in zip(values, last))
