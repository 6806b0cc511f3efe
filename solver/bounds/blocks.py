"""Parts of a linear model that few rows join: what is decided in one domain of the topology, apart from all others."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.record import dataclass
from .linear_rows import LinearModel, Row

MOST = 40
"""Of more variables together the hull is too much to describe."""


@dataclass(frozen=True)
class Block:
    """Variables of a model, and the rows over these alone.

    Attributes
    ----------
    variables : their numbers in the model, in the order of the block.
    rows, boxes : what holds for them, with their places in the block as numbers. Every solution of the model satisfies it.
    """

    variables: tuple[int, ...]
    rows: tuple[Row, ...]
    boxes: tuple[tuple[int, int], ...]


def blocks(linear: LinearModel, apart: Sequence[Sequence[int]]) -> list[Block]:
    """The blocks of a model that are not too large, in the order of their first variables.

    Parameters
    ----------
    apart : variables that are in different blocks: of each count its indicators, one for each domain.
    """
    joined = _Joined(len(linear.boxes), apart)
    indicators = {variable for its in apart for variable in its}
    order = sorted(
        range(len(linear.rows)), key=lambda row: (indicators.isdisjoint(linear.rows[row].variables), len(linear.rows[row].variables))
    )
    for number in order:  # what has an indicator belongs to its domain, before anything else is said of it
        joined.join(linear.rows[number].variables)
    found: dict[int, list[int]] = {}
    for variable in range(len(linear.boxes)):
        found.setdefault(joined.first(variable), []).append(variable)
    held: dict[int, list[Row]] = {}
    for row in linear.rows:
        for first in dict.fromkeys(map(joined.first, row.variables)):
            its = _inside(row, [joined.first(variable) == first for variable in row.variables], linear.boxes)
            if its is not None:
                held.setdefault(first, []).append(its)
    return [_block(linear, its, held.get(first, ())) for first, its in found.items() if len(its) <= MOST and not indicators.isdisjoint(its)]


class _Joined:
    """Sets of variables that rows join, none with two that are apart."""

    def __init__(self, count: int, apart: Sequence[Sequence[int]]) -> None:
        self._parent = list(range(count))
        self._counts: dict[int, set[int]] = {}
        for number, its in enumerate(apart):
            for variable in its:
                self._counts.setdefault(variable, set()).add(number)

    def first(self, variable: int) -> int:
        """The first variable of its set."""
        parent = self._parent
        while parent[variable] != variable:
            parent[variable] = parent[parent[variable]]
            variable = parent[variable]
        return variable

    def join(self, variables: Sequence[int]) -> None:
        """All of them are in one set, unless some are apart."""
        firsts = sorted(set(map(self.first, variables)))
        counts = [self._counts[first] for first in firsts if first in self._counts]
        if sum(map(len, counts)) > len(set[int]().union(*counts)):
            return
        for first in firsts[1:]:
            self._parent[first] = firsts[0]
        if counts:
            self._counts[firsts[0]] = set[int]().union(*counts)


def _inside(row: Row, inside: Sequence[bool], boxes: Sequence[tuple[int, int]]) -> Row | None:
    """The row as it holds whatever one variable is that is not inside; None if more are not, or only that one is."""
    if inside.count(False) > 1 or not any(inside):
        return None
    low, high, variables, coefficients = row.low, row.high, [], []
    for variable, coefficient, its in zip(row.variables, row.coefficients, inside):
        if its:
            variables.append(variable)
            coefficients.append(coefficient)
        else:
            least, most = sorted(coefficient * end for end in boxes[variable])
            low, high = None if low is None else low - most, None if high is None else high - least
    return Row(low, high, tuple(variables), tuple(coefficients))


def _block(linear: LinearModel, variables: Sequence[int], rows: Sequence[Row]) -> Block:
    place = {variable: position for position, variable in enumerate(variables)}
    its = (Row(row.low, row.high, tuple(place[variable] for variable in row.variables), row.coefficients) for row in rows)
    return Block(tuple(variables), tuple(its), tuple(linear.boxes[variable] for variable in variables))


def free(block: Block) -> Iterator[int]:
    """The variables of a block that are not fixed, and do not follow from others by an equation."""
    follow: set[int] = set()
    for row in block.rows:
        if row.low is not None and row.low == row.high:
            follow.update([variable for variable in row.variables if variable not in follow][-1:])
    yield from (each for each, (low, high) in enumerate(block.boxes) if low < high and each not in follow)
