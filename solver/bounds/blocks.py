"""Parts of a linear model that only long rows join: what is decided in one domain of the topology, apart from all others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Container, Iterator, Sequence

from .linear_rows import LinearModel, Row

LONG = ((24, 64), (24, 32), (12, 24))
"""(most variables of a row of one domain, most rows of a variable of one domain), the first that divides most of the model is taken: a
longer row is a sum over domains, such as that all units of a bundle are placed, a variable in more rows such as the amount of it."""
MOST = 40
"""Of more variables together the hull is too much to describe."""


@dataclass(frozen=True)
class Block:
    """Variables of a model that are alone in their rows, but for the long ones.

    Attributes
    ----------
    variables : their numbers in the model, in the order of the block.
    rows, boxes : what holds for them, with their places in the block as numbers. Every solution of the model satisfies it.
    """

    variables: tuple[int, ...]
    rows: tuple[Row, ...]
    boxes: tuple[tuple[int, int], ...]


def blocks(linear: LinearModel) -> list[Block]:
    """The blocks of a model that are not too large, in the order of their first variables."""
    return max((_blocks(linear, row, variable) for row, variable in LONG), key=lambda its: sum(len(block.variables) for block in its))


def _blocks(linear: LinearModel, longest: int, most: int) -> list[Block]:
    short = [row for row in linear.rows if len(row.variables) <= longest]
    uses = Counter(variable for row in short for variable in row.variables)
    shared = {variable for variable, count in uses.items() if count > most}
    rows = [its for row in short if (its := _without(row, shared, linear.boxes)).variables]
    found: dict[int, list[int]] = {}
    of = _joined(rows, len(linear.boxes))
    for variable, first in enumerate(of):
        found.setdefault(first, []).append(variable)
    held: dict[int, list[Row]] = {}
    for row in rows:
        held.setdefault(of[row.variables[0]], []).append(row)
    return [_block(linear, its, held[first]) for first, its in found.items() if 1 < len(its) <= MOST and first in held]


def _without(row: Row, shared: Container[int], boxes: Sequence[tuple[int, int]]) -> Row:
    """The row as it holds whatever these variables are."""
    low, high = row.low, row.high
    kept = []
    for variable, coefficient in zip(row.variables, row.coefficients):
        if variable in shared:
            least, most = sorted(coefficient * end for end in boxes[variable])
            low, high = None if low is None else low - most, None if high is None else high - least
        else:
            kept.append((variable, coefficient))
    return Row(low, high, tuple(variable for variable, _ in kept), tuple(coefficient for _, coefficient in kept))


def _joined(rows: Sequence[Row], count: int) -> list[int]:
    """Variable -> the first of those that rows join with it."""
    parent = list(range(count))

    def first(variable: int) -> int:
        while parent[variable] != variable:
            parent[variable] = parent[parent[variable]]
            variable = parent[variable]
        return variable

    for row in rows:
        for variable in row.variables[1:]:
            one, other = first(row.variables[0]), first(variable)
            parent[max(one, other)] = min(one, other)
    return [first(variable) for variable in range(count)]


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
