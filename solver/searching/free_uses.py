"""A tier where uses are free: likely uses give an answer, the relaxation divided by counts proves that it is the best."""

from __future__ import annotations

from ..bounds.branching import Tree
from ..bounds.glop import Point, Relaxation
from ..layout.layout import Layout
from ..model.engine import run
from ..model.narrowed import narrowed
from ..patterns.counting import Rows, rows_of, with_counts
from ..patterns.master import Master
from .standing import Standing

LIKELY = ((0.3, 0.5), (1.0, 2.0))
"""One after the other: (what a use that is left out costs beyond an optimum of the relaxation, deterministic seconds of the search)."""
NODES = 4000
"""So many relaxations at most are solved for a proof."""
A_STEP, A_NODE = 1e-8, 1.5e-6
"""Deterministic seconds for each row: of a step of the simplex algorithm, and of a relaxation beside its steps. Measured."""
MOST = 1 << 52


class Proof:
    """One tier of a choice of degrees over free uses; earlier ones are fixed in the master, which minimises this one."""

    def __init__(self, standing: Standing, layout: Layout, master: Master, number: int, left: float) -> None:
        self.standing, self.layout, self.master, self.number, self.left = standing, layout, master, number, left

    def search(self) -> None:
        """Make the answer better, and what is proved of this tier, until both meet or the time is over."""
        rows = rows_of(self.master)
        point = self._solved(rows)
        if point is None:
            return
        for excess, limit in LIKELY:
            self._answer(rows.unlikely(point, excess * rows.linear.step), limit)
        rows = with_counts(rows.without(rows.too_dear(point, self._upper)), self.master.uses)
        point = self._solved(rows)
        if point is not None and self.standing.assignment is not None:
            self._divide(rows.without(rows.too_dear(point, self._upper)))

    @property
    def _upper(self) -> int:
        return self.standing.costs[self.number] if self.standing.assignment else MOST

    def _solved(self, rows: Rows) -> Point | None:
        relaxation = Relaxation(rows.linear)
        point = relaxation.solve({})
        self.left -= len(rows.linear.rows) * (A_STEP * relaxation.iterations + A_NODE)
        return point

    def _answer(self, fixed: dict[int, int], limit: float) -> None:
        """Search with few uses open for a better answer than the best."""
        low, high = self.standing.proved[self.number], self._upper - 1
        if low <= high and self.left > 0:
            model = narrowed(self.master.model, fixed, low, high)
            outcome = run(self.master, min(limit, self.left), self.standing.search.seed, by_relaxation=False, model=model)
            self.left -= outcome.spent
            if outcome.values is not None:
                self.standing.offer(self.layout, outcome.values, "patterns")

    def _divide(self, rows: Rows) -> None:
        """Divide until the bound meets the best answer, or the time is over. Uses that are left out are in no better answer."""
        size, upper = len(rows.linear.rows), self._upper
        tree = Tree(Relaxation(rows.linear), rows.levels)
        if tree.root is None:
            return
        while tree.is_open and tree.nodes < NODES and size * (A_STEP * tree.work + A_NODE * tree.nodes) < self.left:
            if tree.bound is not None and tree.bound >= upper:
                break
            tree.branch(upper)
        self.left -= size * (A_STEP * tree.work + A_NODE * tree.nodes)
        self.standing.prove(self.number, upper if tree.bound is None else min(tree.bound, upper))
