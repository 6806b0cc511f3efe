"""Proof that a part of the tree holds nothing: GLOP's word alone is none."""

from __future__ import annotations

from typing import Iterable, Mapping

from .exact import proved_bound
from .glop import Box, Relaxation
from .linear_rows import LinearModel, Row


class Emptiness:
    """The same rows, with a cost for leaving the boxes of a part: if that must be positive, there is nothing in them.

    Every variable v that may be branched on has a copy w = v + above - below, and the boxes are those of the copies.

    Attributes
    ----------
    rows : how many rows the model had.
    """

    def __init__(self, linear: LinearModel, branched: Iterable[int]) -> None:
        self.rows = len(linear.rows)
        boxes, rows, costs = list(linear.boxes), list(linear.rows), dict[int, int]()
        self._copies: dict[int, int] = {}
        for variable in branched:
            low, high = linear.boxes[variable]
            copy, above, below = range(len(boxes), len(boxes) + 3)
            boxes += [(low, high), (0, high - low), (0, high - low)]
            rows.append(Row(0, 0, (copy, variable, above, below), (1, -1, -1, 1)))
            self._copies[variable] = copy
            costs[above] = costs[below] = 1
        self._linear = LinearModel(boxes, costs, 0, rows)
        self._relaxation = Relaxation(self._linear)

    def is_proved(self, boxes: Mapping[int, Box]) -> bool:
        """Is it proved, in whole numbers, that no solution lies in these boxes?"""
        moved = {self._copies[variable]: box for variable, box in boxes.items()}
        point = self._relaxation.solve(moved)
        return point is not None and proved_bound(self._linear, moved, point.duals) > 0
