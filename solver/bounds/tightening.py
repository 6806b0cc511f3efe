"""Rows for the relaxation of a whole model, found in its blocks, as an optimum of it shows where they are missing."""

from __future__ import annotations

from typing import Sequence

from .blocks import Block, blocks
from .facets import Facets
from .glop import Point
from .linear_rows import LinearModel, Row

WHOLE = 1e-5
"""A block that is whole at a point, but for so much, is not parted from it."""


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
