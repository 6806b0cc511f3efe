"""Every structure that the relations and the cost model allow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Iterator, Sequence

from ....models.planning.question import NO_KIND, Question
from ....models.planning.way import Way
from ..costs.cost_model import CostModel
from .segmentations import segmentations
from .structure import OUTSIDE, Structure

Sets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Arrangement:
    """Who is on the same accelerators and whose lie inside whose, before it is said what runs at the same time (see Structure)."""

    question: Question
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

    @property
    def one_by_one(self) -> Structure:
        """With every task in a part of its own."""
        return Structure(self.sets, self.inside, tuple(range(len(self.question.tasks))))


def structures(question: Question, model: CostModel) -> Iterator[Structure]:
    """Each structure once."""
    return (structure for each in arrangements(question, model) for structure in each.structures())


def arrangements(question: Question, model: CostModel) -> Iterator[Arrangement]:
    """Each arrangement once; components without accelerators are sets of their own, after all others."""
    bare = tuple((name,) for name in question.components if _is_bare(question, name))
    placed = [name for name in question.components if not _is_bare(question, name)]
    for sets in _partitions(question, placed):
        for inside in _nestings(question, sets):
            users = Structure(sets, inside, ()).users
            if question.ways and not any(_keeps(way, sets, users) for way in question.ways):
                continue
            yield Arrangement(question, model, (*sets, *bare), (*inside, *(OUTSIDE,) * len(bare)))


def _is_bare(question: Question, name: str) -> bool:
    """Does a component need no accelerators?"""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: Question, names: Sequence[str]) -> Iterator[Sets]:
    """Every way to put components together, each set in the order of the question."""

    def extend(position: int, sets: list[list[str]]) -> Iterator[Sets]:
        if position == len(names):
            found = tuple(tuple(its) for its in sets)
            if all(any({one, other} <= set(its) for its in found) for one, other in question.together):
                yield found
            return
        name = names[position]
        for its in sets:
            if all(_may_share(question, name, other) for other in its):
                its.append(name)
                yield from extend(position + 1, sets)
                its.pop()
        sets.append([name])
        yield from extend(position + 1, sets)
        sets.pop()

    return extend(0, [])


def _may_share(question: Question, one: str, other: str) -> bool:
    """May two components use an accelerator both?"""
    pairs = {(one, other), (other, one)}
    if pairs & question.apart:
        return False
    return question.alone.isdisjoint((one, other)) or bool(pairs & (question.together | question.within))


def _keeps(way: Way, sets: Sets, users: Sets) -> bool:
    """Is this what a way says?"""
    together = all(any({one, other} <= set(its) for its in sets) for one, other in way.together)
    return together and not any({one, other} <= set(its) for its in users for one, other in way.apart)


def _nestings(question: Question, sets: Sets) -> Iterator[tuple[int, ...]]:
    """Every forest of sets inside sets; the one without any nesting first."""

    def extend(inside: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        number = len(inside)
        if number == len(sets):
            if _is_forest(inside) and _obeys(question, sets, inside):
                yield inside
            return
        yield from extend((*inside, OUTSIDE))
        if question.nested:
            for other in range(len(sets)):
                if other != number and all(
                    _may_share(question, one, two) and _may_nest(question, one, two) for one in sets[number] for two in sets[other]
                ):
                    yield from extend((*inside, other))

    return extend(())


def _is_forest(inside: Sequence[int]) -> bool:
    """Does nothing lie inside itself?"""
    for number in range(len(inside)):
        seen, at = {number}, inside[number]
        while at != OUTSIDE:
            if at in seen:
                return False
            seen.add(at)
            at = inside[at]
    return True


def _obeys(question: Question, sets: Sets, inside: tuple[int, ...]) -> bool:
    """Are the first of all pairs inside the second, and do only those share through a third set that may?"""
    users = Structure(sets, inside, ()).users
    of = {name: number for number, its in enumerate(sets) for name in its}
    if any(other not in users[of[one]] for one, other in question.within):
        return False
    pairs = {(one, other) for its in users for one, other in combinations(its, 2)}
    return all(_may_share(question, one, other) and (of[one] == of[other] or _may_nest(question, one, other)) for one, other in pairs)


def _may_nest(question: Question, one: str, other: str) -> bool:
    """May one use some of the accelerators of the other, and not all?"""
    return not {(one, other), (other, one)} & question.whole
