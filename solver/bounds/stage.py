"""Anytime lower bound of a model, and indicators to fix."""

from __future__ import annotations

from typing import Iterable, Mapping

from ortools.sat.python import cp_model

from ..objectives.term import Aggregate
from .branching import Tree, with_counts
from .relaxation import LinearRelaxation, linear_model

AMONG = 8
"""Factor between parts examined and parts returned by `likely`."""
A_MODEL, A_STEP, A_NODE = 4e-5, 2e-8, 6e-6
"""Seconds per row, measured: to read the model, per simplex step, and per relaxation."""
NEAR = 1e-6
"""Integrality tolerance of an indicator."""


def root_seconds(model: cp_model.CpModel) -> float:
    """Return metered seconds of the root relaxation: about one step per row (measured)."""
    return A_STEP * len(model.proto.constraints) ** 2


class BoundStage:
    """Lower bound of a model with one tier, improved by every call of `advance`."""

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate], wider: Iterable[Aggregate] = ()) -> None:
        self._counted = with_counts(linear_model(model), aggregates, wider)
        self._seen: list[dict[int, int]] = []
        self._tree = Tree(LinearRelaxation(self._counted.linear), self._counted.levels)

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
        return self.size * (A_MODEL + A_STEP * self._tree.work + A_NODE * self._tree.nodes)

    def advance(self, upper: int | None, limit: float, nodes: int) -> None:
        """Branch until the limit of time or nodes is reached or the bound meets `upper`."""
        until, most = self.spent + limit, self._tree.nodes + nodes
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
