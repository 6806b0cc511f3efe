"""What the linear relaxation says of a model: a proved bound that grows as it is asked for, and which indicators are worth fixing."""

from __future__ import annotations

from typing import Iterable

from ortools.sat.python import cp_model

from ..objectives.term import Aggregate
from .branching import Tree
from .counted import with_counts
from .glop import Relaxation
from .linear_rows import linear_model
from .restricted import by_reduced_cost, by_value
from .tightening import Tightening

ROUNDS, IDLE = 12, 2
"""So often at most the relaxation of the whole is made tighter before it is divided; and so often without growing."""
GROWN = 0.01
"""What counts as growing, in units of the objective's step."""
AMONG = 8
"""Of so many times as many parts those are likely where most is whole."""
A_BLOCK = 1.4e-4
"""Deterministic seconds of a relaxation of a block. Measured."""
A_STEP, A_NODE = 6e-8, 3e-6
"""Deterministic seconds for each row of the model: of a step of the simplex algorithm, and of a relaxation beside its steps. Measured."""


class BoundStage:
    """The relaxation of a model that minimises one tier, divided further with every call of `advance`."""

    def __init__(self, model: cp_model.CpModel, aggregates: Iterable[Aggregate]) -> None:
        linear = linear_model(model)
        self._counted = with_counts(linear, aggregates)
        self.step = self._counted.linear.step
        self._seen: list[dict[int, int]] = []
        self._linear, self._relaxation = linear, Relaxation(self._counted.linear)
        self._tightening: Tightening | None = None
        self._before = 0.0
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
        """Deterministic seconds so far."""
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
