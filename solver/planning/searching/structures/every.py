"""Every structure that the relations and the cost model allow."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.question import Question
from .....models.planning.way import Way
from .....models.record import dataclass
from ...costs.cost_model import CostModel
from .nestings import CanLie, nestings
from .segmentations import segmentations
from .sharing import may_share
from .structure import OUTSIDE, Structure

Sets = tuple[tuple[str, ...], ...]
CanBe = Callable[[Sequence[Sequence[str]]], bool]


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


def structures(question: Question, model: CostModel) -> Iterator[Structure]:
    """Each structure once."""
    return (structure for each in arrangements(question, model) for structure in each.structures())


def arrangements(question: Question, model: CostModel, can_be: CanBe | None = None, can_lie: CanLie | None = None) -> Iterator[Arrangement]:
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


def _is_bare(question: Question, name: str) -> bool:
    """Does a component need no accelerators?"""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: Question, names: Sequence[str], can_be: CanBe) -> Iterator[Sets]:
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
