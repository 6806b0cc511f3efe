"""Anytime lower bound of a model, and indicators to fix."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from ortools.sat.python import cp_model

from ..objectives.term import Aggregate
from .blocks import Facets, RackBlock, blocks
from .branching import Tree, with_counts
from .relaxation import LinearModel, LinearRelaxation, LinearRow, Point, linear_model

ROUNDS, IDLE = 12, 2
"""Limits of root tightening: rounds in total, and rounds without progress."""
GROWN = 0.01
"""Smallest progress of a round, in units of the objective's step."""
AMONG = 8
"""Factor between parts examined and parts returned by `likely`."""
A_BLOCK = 2e-4
"""Seconds per relaxation of a block, measured; metered work is the same on every machine."""
A_MODEL, A_STEP, A_NODE = 4e-5, 2e-8, 6e-6
"""Seconds per row, measured: to read the model, per simplex step, and per relaxation."""


NEAR = 1e-6
WHOLE = 1e-5
"""Tolerance within which a block counts as integral and is not separated."""


def root_seconds(model: cp_model.CpModel) -> float:
    """Return metered seconds of the root relaxation: about one step per row (measured)."""
    return A_STEP * len(model.proto.constraints) ** 2


class BoundStage:
    """Lower bound of a model with one tier, improved by every call of `advance`."""

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> None:
        linear = linear_model(model)
        self._counted = with_counts(linear, aggregates, wider)
        self.step = self._counted.linear.step
        self._seen: list[dict[int, int]] = []
        self._linear, self._relaxation = linear, LinearRelaxation(self._counted.linear)
        self._tightening: Tightening | None = None
        self._before = A_MODEL * self.size
        self._tree = Tree(self._relaxation, self._counted.levels)

    def tighten(self, limit: float) -> None:
        """Start to separate rows; restart the tree if the root got a row.

        The root is tightened for at most `limit` seconds of metered work.
        """
        if self._tightening is None:
            self._tightening = Tightening(self._linear, self._counted.apart)
            self._tightening.most = int(limit / A_BLOCK)
            if self._tighten(self._tightening, self.spent + limit):
                self._before += self._branched
                self._tree = Tree(self._relaxation, self._counted.levels, self._tightening.rows)

    def _tighten(self, tightening: Tightening, until: float) -> bool:
        """Add rows to the root while the bound makes progress; return False without any."""
        last, idle, is_tighter = float("-inf"), 0, False
        for _ in range(ROUNDS):
            if self.spent >= until:
                break
            point = self._relaxation.solve({})
            if point is None:
                break
            self._before += self.size * (A_STEP * self._relaxation.iterations + A_NODE)
            idle = 0 if point.value > last + GROWN * self.step else idle + 1
            rows = tightening.rows(point) if idle < IDLE else []
            if not rows:
                break
            self._relaxation.add(rows)
            last, is_tighter = max(last, point.value), True
        return is_tighter

    @property
    def is_solved(self) -> bool:
        """True if GLOP solved the root relaxation; otherwise all other members are meaningless."""
        return self._tree.root is not None

    @property
    def size(self) -> int:
        """Number of rows of the model."""
        return len(self._counted.linear.rows)

    @property
    def bound(self) -> int | None:
        """Lower bound over all parts that were not dropped; None if all were dropped."""
        return self._tree.bound

    @property
    def is_open(self) -> bool:
        """True if the bound can still grow."""
        return self._tree.is_open

    @property
    def spent(self) -> float:
        """Seconds of metered work so far."""
        blocks = A_BLOCK * self._tightening.nodes if self._tightening else 0.0
        return self._before + blocks + self._branched

    @property
    def _branched(self) -> float:
        return self.size * (A_STEP * self._tree.work + A_NODE * self._tree.nodes)

    def advance(self, upper: int | None, limit: float, nodes: int) -> None:
        """Branch until the limit of time or nodes is reached or the bound meets `upper`."""
        until, most = self.spent + limit, self._tree.nodes + nodes
        if self._tightening is not None:
            self._tightening.most = self._tightening.nodes + int(limit / A_BLOCK)
        while self._tree.is_open and self.spent < until and self._tree.nodes < most:
            bound = self._tree.bound
            if upper is not None and bound is not None and bound >= upper:
                break
            self._tree.branch(upper)

    def likely(self, count: int = 1) -> list[dict[int, int]]:
        """Return the integral indicators of `count` parts, with their values.

        Of the ``AMONG * count`` parts with the lowest bounds, ties prefer the most integral
        indicators.
        """
        positions = self._tree.branched
        subproblems = self._tree.best(AMONG * count)
        integral = [
            list_integral({indicator: subproblem.values[positions[indicator]] for indicator in self._counted.indicators})
            for subproblem in subproblems
        ]
        order = sorted(range(len(subproblems)), key=lambda number: (subproblems[number].bound, -len(integral[number])))[:count]
        self._seen += [integral[number] for number in order]
        return [integral[number] for number in order]

    def find_agreed(self) -> dict[int, int]:
        """Return indicators equal at the root and in all results of `likely` so far."""
        root = self._tree.root
        first = list_integral({indicator: root.values[indicator] for indicator in self._counted.indicators}) if root else {}
        return {indicator: value for indicator, value in first.items() if all(sample.get(indicator) == value for sample in self._seen)}


def list_integral(values: Mapping[int, float]) -> dict[int, int]:
    """Return the integral indicators of an optimum, with their values."""
    integers = {variable: round(value) for variable, value in values.items()}
    return {variable: value for variable, value in integers.items() if abs(values[variable] - value) < NEAR}


class Tightening:
    """Blocks of a model with separation of rows; equal blocks share their known solutions.

    Parameters
    ----------
    apart : indicators that must be in different blocks (see blocks.py).
    """

    def __init__(self, linear: LinearModel, indicator_sets: Sequence[Sequence[int]]) -> None:
        self._blocks = blocks(linear, indicator_sets)
        self._facets: dict[tuple[object, object], Facets] = {}
        self._settled: dict[int, list[float]] = {}
        self.most = 1 << 60
        """Limit of block relaxations, after which no row is separated."""

    @property
    def nodes(self) -> int:
        """Relaxations of blocks solved so far; deterministic."""
        return sum(facets.nodes for facets in self._facets.values())

    def rows(self, point: Point) -> list[LinearRow]:
        """Return valid rows violated by the point, at most one per block."""
        rows = []
        for block in self._blocks:
            if self.nodes < self.most and (row := self._row(block, [point.values[variable] for variable in block.variables])):
                rows.append(row)
        return rows

    def _row(self, block: RackBlock, values: list[float]) -> LinearRow | None:
        if all(abs(value - round(value)) < WHOLE for value in values) or self._is_settled(block, values):
            return None
        key = block.rows, block.boxes
        if key not in self._facets:
            self._facets[key] = Facets(block)
        row = self._facets[key].row(values)
        if row is None:
            self._settled[block.variables[0]] = values
            return None
        return LinearRow(row.low, row.high, tuple(block.variables[index] for index in row.variables), row.coefficients)

    def _is_settled(self, block: RackBlock, values: list[float]) -> bool:
        """Return True if the last separation at the same point failed."""
        last = self._settled.get(block.variables[0])
        return last is not None and all(abs(value - previous) < WHOLE for value, previous in zip(values, last))
