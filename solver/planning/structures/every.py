"""Every structure that the relations and the cost model allow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import Callable, Iterator, Sequence

from ....models.planning.question import NO_KIND, Question
from ....models.planning.way import Way
from ..costs.cost_model import CostModel
from .segmentations import segmentations
from .structure import OUTSIDE, Structure

Sets = tuple[tuple[str, ...], ...]
CanBe = Callable[[Sequence[Sequence[str]]], bool]
FEW = 5
"""Sets up to which it is looked for what may lie inside what, where something has to."""


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


def arrangements(question: Question, model: CostModel, order: Sequence[str] = (), can_be: CanBe | None = None) -> Iterator[Arrangement]:
    """Each arrangement once; components without accelerators are sets of their own, after all others.

    Parameters
    ----------
    order : in which components get their place, all that take accelerators; none: in the written one.
    can_be : could these be sets, whoever else joins them, of anything that is asked for? What could not be is left out.
    """
    bare = tuple((name,) for name in question.components if _is_bare(question, name))
    placed = order or [name for name in question.components if not _is_bare(question, name)]
    for sets in _partitions(question, placed, can_be):
        for inside in _nestings(question, sets):
            users = Structure(sets, inside, ()).users
            if question.ways and not any(_keeps(way, sets, users) for way in question.ways):
                continue
            yield Arrangement(question, model, (*sets, *bare), (*inside, *(OUTSIDE,) * len(bare)))


def arrangement(question: Question, model: CostModel, sets: Sets) -> Arrangement | None:
    """With these sets of all that takes accelerators, as few as may be inside others; None where no relations allow it, or not soon."""
    together = all(any({one, other} <= set(its) for its in sets) for one, other in question.together)
    if not together or not all(_may_share(question, one, other) for its in sets for one, other in combinations(its, 2)):
        return None
    bare = tuple((name,) for name in question.components if _is_bare(question, name))
    for inside in islice(_nestings(question, sets), 1) if not question.within or len(sets) <= FEW else ():
        users = Structure(sets, inside, ()).users
        if not question.ways or any(_keeps(way, sets, users) for way in question.ways):
            return Arrangement(question, model, (*sets, *bare), (*inside, *(OUTSIDE,) * len(bare)))
    return None


def _is_bare(question: Question, name: str) -> bool:
    """Does a component need no accelerators?"""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: Question, names: Sequence[str], can_be: CanBe | None) -> Iterator[Sets]:
    """Every way to put components together, sets and each set in the order of the question."""
    place = {name: number for number, name in enumerate(question.components)}

    def extend(position: int, sets: list[list[str]]) -> Iterator[Sets]:
        if position == len(names):
            found = tuple(sorted((tuple(sorted(its, key=place.__getitem__)) for its in sets), key=lambda its: place[its[0]]))
            if all(any({one, other} <= set(its) for its in found) for one, other in question.together):
                yield found
            return
        name = names[position]
        for its in sets:
            if all(_may_share(question, name, other) for other in its):
                its.append(name)
                if can_be is None or can_be(sets):
                    yield from extend(position + 1, sets)
                its.pop()
        sets.append([name])
        if can_be is None or can_be(sets):
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
