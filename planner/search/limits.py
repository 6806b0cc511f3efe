"""Linear limits from placement: weights of the choices of blocks sum to at most a number."""

from __future__ import annotations

from functools import cached_property, partial
from math import lcm
from typing import Callable, Iterator, Mapping, Sequence

from ...models.planning.design import meets
from ...models.planning.option import Area, Option, RefusedCount, Shared
from ...models.planning.problem import PlanningProblem
from ...models.planning.way import CountConstraint
from ...models.record import dataclass
from .structures import OUTSIDE, BlockStructure

Weigh = Callable[[int, Sequence[Option]], int]


@dataclass(frozen=True)
class LimitRow:
    """Row: the weights of options of these sets sum to at most `most`.

    `weigh` takes the number of a set and its options in order.
    """

    sets: tuple[int, ...]
    most: int
    weigh: Weigh


def rows(question: PlanningProblem, structure: BlockStructure) -> tuple[LimitRow, ...]:
    """Return all rows of a structure. A lower limit is a row of negative weights."""
    of = {name: number for number, members in enumerate(structure.sets) for name in members}
    found = [row for area in question.areas for row in _in_area(structure, area)]
    most = question.budget.accelerators
    found += [LimitRow(tally.sets, most - tally.base, tally.weigh) for tally in tallies(question, structure)] if most is not None else []
    for first, second in sorted(question.sharing.not_fewer):
        found.append(LimitRow(tuple(sorted({of[first], of[second]})), 0, _weight_of_set(structure, partial(_fewer, first, second))))
    for names in question.sharing.filling:
        sets = tuple(sorted({of[name] for name in names}))
        found.append(LimitRow(sets, -sum(kind.accelerators for kind in question.kinds), _taken_off))
    for multiple in multiples(question):
        sets = tuple(sorted({of[multiple.component], of[multiple.partner]}))
        amounts = (amount for amount in _amounts(question, multiple.partner) if len(sets) > 1 or not multiple.holds(amount, amount))
        found += [LimitRow(sets, 1, _weight_of_set(structure, partial(_against, multiple, amount))) for amount in amounts]
    for first, second in sorted(question.sharing.in_step):
        if pattern(structure, frozenset((first, second))):
            sets = tuple(sorted({of[first], of[second]}))
            found += [
                LimitRow(sets, 1, _weight_of_set(structure, partial(_out_of_step, first, second, size)))
                for size in _sizes(question, second)
            ]
    found += [row for no_good in _barred(question) if (row := _barring(structure, of, no_good)) is not None]
    return tuple(found)


def is_limited(question: PlanningProblem) -> bool:
    """Return True if rows exist: then fewer accelerators are not always as good."""
    return bool(
        question.areas
        or question.sharing.not_fewer
        or question.sharing.in_step
        or question.sharing.filling
        or _barred(question)
        or multiples(question)
    )


def figures(question: PlanningProblem, name: str, option: Option) -> tuple[int, ...]:
    """Return the weights of an option in all rows, for dominance."""
    sizes = sorted({power for area in question.areas if area.kind == option.kind for size in area.rooms for power in _powers(size)})
    found = [int(option.group % size == 0) for size in sizes]
    for first, second in sorted(question.sharing.not_fewer):
        found += [_fewer(first, second, name, option)] if name in (first, second) else []
    for multiple in multiples(question):
        if name in (multiple.component, multiple.partner):
            found += [_against(multiple, amount, name, option) for amount in _amounts(question, multiple.partner)]
    for first, second in sorted(question.sharing.in_step):
        if name in (first, second):
            found += [_out_of_step(first, second, size, name, option) for size in _sizes(question, second)]
    found += [int(meets(no_good.uses[name], option)) for no_good in _barred(question) if name in no_good.uses]
    return tuple(found)


def _barred(question: PlanningProblem) -> tuple[RefusedCount, ...]:
    return (*question.barred, *question.misshapen)


def multiples(question: PlanningProblem) -> tuple[CountConstraint, ...]:
    """Return the count constraints of all arrangements."""
    return tuple(dict.fromkeys(constraint for way in question.ways for constraint in way.multiples))


def _amounts(question: PlanningProblem, name: str) -> list[int]:
    return sorted({option.amount for option in question.options[name]})


def _weight_of_set(structure: BlockStructure, weigh: Callable[[str, Option], int]) -> Weigh:
    """Return the weight of a set: that of its options by component."""
    return lambda number, options: sum(weigh(name, option) for name, option in zip(structure.sets[number], options))


def _fewer(first: str, second: str, name: str, option: Option) -> int:
    """Return the processes of the second component, or less those of the first."""
    return option.processes * ((name == second) - (name == first))


def _out_of_step(first: str, second: str, size: int, name: str, option: Option) -> int:
    """Return 1 for a second of this size, or a first in no whole groups."""
    return int(option.per_process == size) if name == second else int(name == first and option.amount % size != 0)


def _against(multiple: CountConstraint, amount: int, name: str, option: Option) -> int:
    """Return 1 for the partner with this amount, or the component with a conflicting one."""
    if name == multiple.partner:
        return int(option.amount == amount and multiple.partner_degrees in (None, option.parallel))
    return int(name == multiple.component and multiple.degrees in (None, option.parallel) and not multiple.holds(option.amount, amount))


def _sizes(question: PlanningProblem, name: str) -> list[int]:
    """Return the possible process sizes of a component."""
    return sorted({option.per_process for option in question.options[name]})


def _powers(number: int) -> Iterator[int]:
    """Yield the prime powers of a number."""
    prime = 2
    while number > 1:
        power = 1
        while number % prime == 0:
            number, power = number // prime, power * prime
        if power > 1:
            yield power
        prime += 1


def pattern(structure: BlockStructure, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs (inner, outer) of these components."""
    of = {name: number for number, members in enumerate(structure.sets) for name in members if name in names}
    return frozenset((inner, outer) for inner in of for outer in of if inner != outer and of[outer] in structure.around[of[inner]])


def _in_area(structure: BlockStructure, area: Area) -> Iterator[LimitRow]:
    roots = (number for number, outer in enumerate(structure.inside) if outer == OUTSIDE)
    sets = tuple(number for number in roots if not area.components.isdisjoint(structure.sets[number]))
    for size, most in area.rooms.items() if sets else ():
        yield LimitRow(sets, most, _in_groups(area.kind, size))


def _in_groups(kind: int, size: int) -> Weigh:
    def weigh(number: int, options: Sequence[Option]) -> int:
        whole = options[0].kind == kind and lcm(*(option.group for option in options)) % size == 0
        return options[0].accelerators if whole else 0

    return weigh


def _taken_off(number: int, options: Sequence[Option]) -> int:
    return -options[0].accelerators


def _barring(structure: BlockStructure, of: dict[str, int], barred: RefusedCount) -> LimitRow | None:
    """Return the row of a no-good; None if the structure does not match it."""
    if barred.segments not in (None, structure.segments) or pattern(structure, frozenset(barred.uses)) != barred.inside:
        return None
    sets = tuple(sorted({of[name] for name in barred.uses}))

    def weigh(number: int, options: Sequence[Option]) -> int:
        pairs = zip(structure.sets[number], options)
        return int(all(meets(barred.uses[name], option) for name, option in pairs if name in barred.uses))

    return LimitRow(sets, len(sets) - 1, weigh)


@dataclass(frozen=True)
class Tally:
    """Lower bound of the used accelerators.

    `base` : accelerators of given components. `counted` : kind -> sets on it that add to them, with
    all inside these sets.
    """

    base: int
    counted: Mapping[int, frozenset[int]]

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """Sets that count on some kind."""
        return tuple(sorted(frozenset[int]().union(*self.counted.values())))

    def weigh(self, number: int, options: Sequence[Option]) -> int:
        """Return the accelerators of a set beyond the given ones, with these options."""
        return options[0].accelerators if number in self.counted.get(options[0].kind, ()) else 0


def tallies(question: PlanningProblem, structure: BlockStructure) -> tuple[Tally, ...]:
    """Return the lower bounds of used accelerators; the largest counts."""
    kinds = range(len(question.kinds))
    return tuple(
        Tally(sum(entry.accelerators for entry in entries), {kind: _used_beside(structure, kind, entries) for kind in kinds})
        for entries in question.together_shared
        if entries
    )


def _used_beside(structure: BlockStructure, kind: int, entries: Sequence[Shared]) -> frozenset[int]:
    """Return outermost sets that cannot use these accelerators, with all inside them."""
    beside = {number for number, users in enumerate(structure.users) if not any(entry.lets(kind, users) for entry in entries)}
    return frozenset(number for number in beside if structure.inside[number] == OUTSIDE or structure.inside[number] not in beside)
