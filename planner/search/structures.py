"""Structures: set partitions of the components onto blocks, or forests with nesting."""

from __future__ import annotations

from functools import cached_property
from typing import Callable, Iterator, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import NO_KIND
from ...models.planning.problem import PlanningProblem
from ...models.planning.way import Way
from ...models.record import dataclass
from .segmentations import segmentations

OUTSIDE = -1


Sets = tuple[tuple[str, ...], ...]
CanBe = Callable[[Sequence[Sequence[str]]], bool]
Inside = tuple[int, ...]
"""For each of the first sets, the set whose accelerators it uses some of; `OUTSIDE` if there is none."""
CanLie = Callable[[Sequence[Sequence[str]], Inside], bool]
"""Could sets lie so in anything that is asked for, the first of them as is said?"""


@dataclass(frozen=True)
class Structure:
    """One structure.

    Attributes
    ----------
    sets : components on exactly the same accelerators; one that needs none is a set of its own.
    inside : for each set, the set whose accelerators it uses some of; `OUTSIDE` if there is none.
    segments : for each task of the question, the part of the iteration in which it runs.
    """

    sets: tuple[tuple[str, ...], ...]
    inside: tuple[int, ...]
    segments: tuple[int, ...]

    @cached_property
    def around(self) -> tuple[tuple[int, ...], ...]:
        """For each set, the sets whose accelerators hold its own, itself first."""
        found = []
        for number in range(len(self.sets)):
            its = [number]
            while self.inside[its[-1]] != OUTSIDE:
                its.append(self.inside[its[-1]])
            found.append(tuple(its))
        return tuple(found)

    @cached_property
    def users(self) -> tuple[tuple[str, ...], ...]:
        """For each set, all components that use its accelerators: its own, and those of the sets around it."""
        return tuple(tuple(name for number in around for name in self.sets[number]) for around in self.around)

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The tasks of each part of the iteration, in the order in which the question names the first of each."""
        found: dict[int, list[int]] = {}
        for task, segment in enumerate(self.segments):
            found.setdefault(segment, []).append(task)
        return tuple(map(tuple, found.values()))


@dataclass(frozen=True)
class Arrangement:
    """Who is on the same accelerators and whose lie inside whose, before it is said what runs at the same time (see Structure)."""

    question: PlanningProblem
    model: CostModel
    sets: Sets
    inside: tuple[int, ...]

    def structures(self) -> Iterator[Structure]:
        """With every way to cut the iteration. Of those that differ only in what they run apart without need, the one that runs it together."""
        users = self.users
        for segments in segmentations(self.question, self.model, users):
            if not self.model.refuses(self.question, users, segments):
                yield Structure(self.sets, self.inside, segments)

    @property
    def users(self) -> Sets:
        """For each set that needs accelerators, all components that use them."""
        placed = [number for number, its in enumerate(self.sets) if not _is_bare(self.question, its[0])]
        return Structure(self.sets, self.inside, ()).users[: len(placed)]


def structures(question: PlanningProblem, model: CostModel) -> Iterator[Structure]:
    """Each structure once."""
    return (structure for each in arrangements(question, model) for structure in each.structures())


def arrangements(
    question: PlanningProblem, model: CostModel, can_be: CanBe | None = None, can_lie: CanLie | None = None
) -> Iterator[Arrangement]:
    """Each arrangement once; components without accelerators are sets of their own, after all others.

    Parameters
    ----------
    can_be : could these be sets, whoever else joins them, of anything that is asked for? What could not be is left out.
    can_lie : could sets lie so inside one another?
    """
    bare = tuple((name,) for name in question.components if _is_bare(question, name))
    placed = [name for name in question.components if not _is_bare(question, name)]

    def may_be(sets: Sequence[Sequence[str]]) -> bool:
        return model.may_be(question, sets) and (can_be is None or can_be(sets))

    for sets in _partitions(question, placed, may_be):
        for inside in nestings(question, sets, can_lie):
            users = Structure(sets, inside, ()).users
            if question.ways and not any(_keeps(way, sets, users) for way in question.ways):
                continue
            yield Arrangement(question, model, (*sets, *bare), (*inside, *(OUTSIDE,) * len(bare)))


def _is_bare(question: PlanningProblem, name: str) -> bool:
    """Does a component need no accelerators?"""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: PlanningProblem, names: Sequence[str], can_be: CanBe) -> Iterator[Sets]:
    """Every way to put components together, sets and each set in the order of the question."""
    place = {name: number for number, name in enumerate(question.components)}

    def extend(position: int, sets: list[list[str]]) -> Iterator[Sets]:
        if position == len(names):
            found = tuple(sorted((tuple(sorted(its, key=place.__getitem__)) for its in sets), key=lambda its: place[its[0]]))
            if all(any({one, other} <= set(its) for its in found) for one, other in question.sharing.together):
                yield found
            return
        name = names[position]
        for its in sets:
            if all(may_share(question, name, other) for other in its):
                its.append(name)
                if can_be(sets):
                    yield from extend(position + 1, sets)
                its.pop()
        sets.append([name])
        if can_be(sets):
            yield from extend(position + 1, sets)
        sets.pop()

    return extend(0, [])


def _keeps(way: Way, sets: Sets, users: Sets) -> bool:
    """Is this what a way says?"""
    together = all(any({one, other} <= set(its) for its in sets) for one, other in way.together)
    return together and not any({one, other} <= set(its) for its in users for one, other in way.apart)


def nestings(question: PlanningProblem, sets: Sequence[Sequence[str]], can_lie: CanLie | None = None) -> Iterator[Inside]:
    """Every forest of sets inside sets; the one without any nesting first.

    What no relation allows, or `can_lie` refuses, is left as soon as it is seen in the first few sets.
    """
    of = {name: number for number, its in enumerate(sets) for name in its}
    within = {(of[one], of[other]) for one, other in question.sharing.within if of[one] != of[other]}
    count = len(sets)
    may = [[_may_hold(question, one, other) for other in sets] for one in sets] if question.sharing.nested else []
    if question.sharing.only_within:
        demanded = _followed(within)
        may = [[its and (number, place) in demanded for place, its in enumerate(row)] for number, row in enumerate(may)]

    def extend(inside: Inside) -> Iterator[Inside]:
        number = len(inside)
        if number == count:
            yield inside
            return
        for other in (OUTSIDE, *range(count if question.sharing.nested else 0)):
            more = (*inside, other)
            may_be = other == OUTSIDE or (other != number and may[number][other] and _is_forest(more))
            if may_be and _obeys(more, may, within) and (can_lie is None or can_lie(sets, more)):
                yield from extend(more)

    return extend(())


def _may_hold(question: PlanningProblem, one: Sequence[str], other: Sequence[str]) -> bool:
    """May one set lie inside the other?"""
    return all(may_share(question, a, b) and may_nest(question, a, b) for a in one for b in other)


def _followed(within: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """These pairs of sets, and those that follow: what lies inside a set lies inside all that is around that."""
    found, before = set(within), set[tuple[int, int]]()
    while found != before:
        before = set(found)
        found |= {(one, other) for one, between in before for its, other in before if its == between and one != other}
    return found


def _around(inside: Inside, number: int) -> Iterator[int]:
    """The sets around a set from the nearest on, as far as they are known; `OUTSIDE` last where all of them are."""
    while number < len(inside) and number != OUTSIDE:
        number = inside[number]
        yield number


def _is_forest(inside: Inside) -> bool:
    """Does the last set not lie inside itself, where none before it does?"""
    return len(inside) - 1 not in _around(inside, len(inside) - 1)


def _obeys(inside: Inside, may: Sequence[Sequence[bool]], within: set[tuple[int, int]]) -> bool:
    """Can the first of all pairs still be inside the second, and do only those share through a third set that may?"""
    around = [tuple(_around(inside, number)) for number in range(len(inside))]
    if any(other != OUTSIDE and not may[number][other] for number, its in enumerate(around) for other in its):
        return False
    return not any(one < len(inside) and around[one][-1] == OUTSIDE and other not in around[one] for one, other in within)


def may_share(question: PlanningProblem, one: str, other: str) -> bool:
    """May two components use an accelerator both?"""
    pairs = {(one, other), (other, one)}
    if pairs & question.sharing.apart:
        return False
    return question.sharing.alone.isdisjoint((one, other)) or bool(pairs & (question.sharing.together | question.sharing.within))


def may_nest(question: PlanningProblem, one: str, other: str) -> bool:
    """May one use some of the accelerators of the other, and not all?"""
    return not {(one, other), (other, one)} & question.sharing.whole
