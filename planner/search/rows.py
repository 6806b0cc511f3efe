"""Rows of a structure: weights of the choices of its sets sum to at most a number.

Everything that a choice of each set must keep to is a row: accelerators of a kind, nested sets,
their memory, areas, and the limits between components.
"""

from __future__ import annotations

from functools import partial
from math import lcm
from typing import Callable, Iterator, NamedTuple, Sequence

from ...models.planning.option import Area, SharedBlock
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
    roots = tuple(number for number, outer in enumerate(structure.inside) if outer == OUTSIDE)
    for kind, node_kind in enumerate(question.kinds if len(question.kinds) > 1 else ()):
        yield ChoiceRow(roots, node_kind.accelerators, _count_weights({kind: frozenset(roots)}))
    for number in range(len(structure.sets)):
        yield from _list_nested_rows(question, structure, number)
    yield from (row for area in question.areas for row in _in_area(structure, roots, area))
    yield from (_of_limit(structure, limit) for limit in limits.every if limit.holds_in(structure))


def bound_used(question: PlanningProblem, structure: BlockStructure) -> Iterator[ChoiceRow]:
    """Yield lower bounds of the used accelerators: the largest sum of weights less `most` counts.

    Shared accelerators of given ranks, held in any case, and the outermost sets that cannot use
    them, with all inside these.
    """
    for entries in question.together_shared:
        excluded = {kind: _find_excluded(structure, kind, entries) for kind in range(len(question.kinds))}
        sets = frozenset[int]().union(*excluded.values())
        yield ChoiceRow(tuple(sorted(sets)), -sum(entry.accelerators for entry in entries), _count_weights(excluded))


def count_left_over(inner: Sequence[int]) -> int:
    """Return the least accelerators of a set outside its inner sets."""
    return int(len(inner) == 1)


def _list_nested_rows(question: PlanningProblem, structure: BlockStructure, number: int) -> Iterator[ChoiceRow]:
    """Yield the rows of a set around others, or within others."""
    inner = tuple(member for member, outer in enumerate(structure.inside) if outer == number)
    if inner:
        yield ChoiceRow(
            (number, *inner), -count_left_over(inner), lambda at, choice: -choice.accelerators if at == number else choice.accelerators
        )
    for member in inner if len(question.kinds) > 1 else ():
        yield from (ChoiceRow((number, member), 1, _unlike(number, kind)) for kind in range(len(question.kinds)))
    if len(structure.around[number]) > 1:
        sizes = [ENDLESS if kind.memory is None else kind.memory for kind in question.kinds]
        yield from (ChoiceRow(structure.around[number], 0, _memory(number, sizes, turn)) for turn in range(len(question.all_turns) + 1))


def _count_weights(excluded: dict[int, frozenset[int]]) -> Callable[[int, BlockChoice], int]:
    """Return the accelerators of choices on a kind by the sets that count there."""
    return lambda number, choice: choice.accelerators if number in excluded.get(choice.kind, ()) else 0


def _unlike(outer: int, kind: int) -> Callable[[int, BlockChoice], int]:
    """Return 1 for an inner set on a kind, or an outer set on another."""
    return lambda number, choice: int((choice.kind == kind) != (number == outer))


def _memory(inner: int, sizes: Sequence[int], turn: int) -> Callable[[int, BlockChoice], int]:
    """Return MiB of a choice in a turn, less the capacity for inner sets."""
    return lambda number, choice: choice.needs[turn] - (sizes[choice.kind] if number == inner else 0)


def _in_area(structure: BlockStructure, roots: Sequence[int], area: Area) -> Iterator[ChoiceRow]:
    sets = tuple(number for number in roots if not area.components.isdisjoint(structure.sets[number]))

    def weigh(size: int, number: int, choice: BlockChoice) -> int:
        whole = choice.kind == area.kind and lcm(*(option.group for option in choice.options)) % size == 0
        return choice.accelerators if whole else 0

    yield from (ChoiceRow(sets, most, partial(weigh, size)) for size, most in area.rooms.items() if sets)


def _of_limit(structure: BlockStructure, limit: Limit) -> ChoiceRow:
    of = {name: number for number, members in enumerate(structure.sets) for name in members}

    def weigh(number: int, choice: BlockChoice) -> int:
        return sum(limit.weigh(name, option) for name, option in zip(structure.sets[number], choice.options) if name in limit.names)

    return ChoiceRow(tuple(sorted({of[name] for name in limit.names})), limit.most, weigh)


def _find_excluded(structure: BlockStructure, kind: int, entries: Sequence[SharedBlock]) -> frozenset[int]:
    """Return outermost sets that cannot use these accelerators, with all inside them."""
    numbers = {number for number, users in enumerate(structure.users) if not any(entry.lets(kind, users) for entry in entries)}
    return frozenset(number for number in numbers if structure.inside[number] == OUTSIDE or structure.inside[number] not in numbers)
