"""Rows of a structure: weights of the choices of its sets sum to at most a number.

Everything that a choice of each set must keep to is a row: accelerators of a kind, nested sets,
their memory, areas, and the limits between components.
"""

from __future__ import annotations

from math import lcm
from typing import Callable, Iterator, NamedTuple, Sequence

from ...models.planning.option import Area
from ...models.planning.problem import PlanningProblem
from .choices import BlockChoice
from .found import ENDLESS
from .limits import Limit, OptionLimits
from .structures import OUTSIDE, BlockStructure


class ChoiceRow(NamedTuple):
    """Weights of the choices of these sets sum to at most `most`."""

    sets: tuple[int, ...]
    most: int
    weigh: Callable[[int, BlockChoice], int]


def rows(question: PlanningProblem, structure: BlockStructure, limits: OptionLimits) -> Iterator[ChoiceRow]:
    """Yield all rows of a structure. A lower limit is a row of negative weights."""
    roots = _roots(structure)
    for kind, node_kind in enumerate(question.kinds if len(question.kinds) > 1 else ()):
        yield ChoiceRow(roots, node_kind.accelerators, _on_kind(kind))
    for number in range(len(structure.sets)):
        yield from _nested(question, structure, number)
    yield from (row for area in question.areas for row in _in_area(structure, roots, area))
    yield from (_of_limit(structure, limit) for limit in limits.every if limit.holds_in(structure))


def used(question: PlanningProblem, structure: BlockStructure) -> Iterator[ChoiceRow]:
    """Yield lower bounds of the used accelerators: the sum of weights less `most` counts.

    Those of the outermost sets, and shared accelerators of given ranks, held in any case.
    """
    yield ChoiceRow(_roots(structure), 0, lambda number, choice: choice.accelerators)
    if question.given.shared:
        yield ChoiceRow((), -question.given.shared, lambda number, choice: 0)


def _roots(structure: BlockStructure) -> tuple[int, ...]:
    return tuple(number for number, outer in enumerate(structure.inside) if outer == OUTSIDE)


def left_over(inner: Sequence[int]) -> int:
    """Return the least accelerators of a set outside its inner sets."""
    return int(len(inner) == 1)


def _nested(question: PlanningProblem, structure: BlockStructure, number: int) -> Iterator[ChoiceRow]:
    """Yield the rows of a set around others, or within others."""
    inner = tuple(member for member, outer in enumerate(structure.inside) if outer == number)
    if inner:
        yield ChoiceRow(
            (number, *inner), -left_over(inner), lambda at, choice: -choice.accelerators if at == number else choice.accelerators
        )
    for member in inner if len(question.kinds) > 1 else ():
        yield from (ChoiceRow((number, member), 1, _unlike(number, kind)) for kind in range(len(question.kinds)))
    if len(structure.around[number]) > 1:
        sizes = [ENDLESS if kind.memory is None else kind.memory for kind in question.kinds]
        yield from (ChoiceRow(structure.around[number], 0, _memory(number, sizes, turn)) for turn in range(len(question.all_turns) + 1))


def _on_kind(kind: int) -> Callable[[int, BlockChoice], int]:
    return lambda number, choice: choice.accelerators if choice.kind == kind else 0


def _unlike(outer: int, kind: int) -> Callable[[int, BlockChoice], int]:
    """Return 1 for an inner set on a kind, or an outer set on another."""
    return lambda number, choice: int((choice.kind == kind) != (number == outer))


def _memory(inner: int, sizes: Sequence[int], turn: int) -> Callable[[int, BlockChoice], int]:
    """Return MiB of a choice in a turn, less the capacity for inner sets."""
    return lambda number, choice: choice.needs[turn] - (sizes[choice.kind] if number == inner else 0)


def _in_area(structure: BlockStructure, roots: Sequence[int], area: Area) -> Iterator[ChoiceRow]:
    sets = tuple(number for number in roots if not area.components.isdisjoint(structure.sets[number]))
    for size, most in area.rooms.items() if sets else ():
        yield ChoiceRow(sets, most, _in_groups(area.kind, size))


def _in_groups(kind: int, size: int) -> Callable[[int, BlockChoice], int]:
    def weigh(number: int, choice: BlockChoice) -> int:
        whole = choice.kind == kind and lcm(*(option.group for option in choice.options)) % size == 0
        return choice.accelerators if whole else 0

    return weigh


def _of_limit(structure: BlockStructure, limit: Limit) -> ChoiceRow:
    of = {name: number for number, members in enumerate(structure.sets) for name in members}

    def weigh(number: int, choice: BlockChoice) -> int:
        return sum(limit.weigh(name, option) for name, option in zip(structure.sets[number], choice.options) if name in limit.names)

    return ChoiceRow(tuple(sorted({of[name] for name in limit.names})), limit.most, weigh)
