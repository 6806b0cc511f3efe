"""Structures: set partitions of the components, or forests of sets with nesting.

A structure is complete once the iteration is divided too (`segmentations.py`). Partial
partitions and forests are pruned as soon as a relation, the cost model or a lower bound excludes
them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Callable, Iterator, Mapping, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import NO_KIND
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import reachable
from ...models.record import dataclass
from .segmentations import segmentations

OUTSIDE = -1
Sets = tuple[tuple[str, ...], ...]
CanBe = Callable[[Sequence[Sequence[str]]], bool]
Inside = tuple[int, ...]
"""For each of the first sets, the set around it, else `OUTSIDE`.

An inner set uses some of the accelerators of the set around it.
"""
CanLie = Callable[[Sequence[Sequence[str]], Inside], bool]
"""Test of a partial forest: the sets, and the sets around the first of them; False prunes it."""


@dataclass(frozen=True)
class BlockStructure:
    """A set partition with nesting, and the segment of each task.

    `sets` : components on exactly the same accelerators; a component without accelerators is a set
    of its own. `inside` : for each set, the set around it, whose accelerators it uses in part;
    `OUTSIDE` without one. `segments` : for each task of the problem, its segment of the iteration; ()
    before the iteration is divided.
    """

    sets: Sets
    inside: Inside
    segments: tuple[int, ...] = ()

    @cached_property
    def around(self) -> tuple[tuple[int, ...], ...]:
        """For each set, the chain of sets around it, itself first."""
        chains = []
        for number in range(len(self.sets)):
            chain = [number]
            while self.inside[chain[-1]] != OUTSIDE:
                chain.append(self.inside[chain[-1]])
            chains.append(tuple(chain))
        return tuple(chains)

    @cached_property
    def users(self) -> tuple[tuple[str, ...], ...]:
        """For each set, all components on its accelerators: its own and those of sets around it."""
        return tuple(tuple(name for number in around for name in self.sets[number]) for around in self.around)

    @cached_property
    def uses(self) -> Mapping[str, frozenset[int]]:
        """Component -> the sets on its accelerators: its own and those inside."""
        numbers = range(len(self.sets))
        return {
            name: frozenset(inner for inner in numbers if number in self.around[inner]) for number in numbers for name in self.sets[number]
        }

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Tasks of each segment, in the order of the first task of each."""
        segments: dict[int, list[int]] = {}
        for task, segment in enumerate(self.segments):
            segments.setdefault(segment, []).append(task)
        return tuple(map(tuple, segments.values()))


def divide(question: PlanningProblem, model: CostModel, arrangement: BlockStructure) -> Iterator[BlockStructure]:
    """Yield the structures of an arrangement, by all segmentations."""
    users = tuple(names for names in arrangement.users if not _is_bare(question, names[0]))
    for segments in segmentations(question, model, users):
        if not model.refuses(question, users, segments):
            yield BlockStructure(arrangement.sets, arrangement.inside, segments)


def arrangements(
    question: PlanningProblem, model: CostModel, nesting: bool, can_be: CanBe | None = None, can_lie: CanLie | None = None
) -> Iterator[BlockStructure]:
    """Yield each flat or each nested arrangement once, undivided; sets without accelerators come last.

    `can_be` : False prunes a partial partition, whichever components join the sets. `can_lie` :
    False prunes a partial forest.
    """
    bare = tuple((name,) for name in question.components if _is_bare(question, name))
    names = [name for name in question.components if not _is_bare(question, name)]

    def may_be(sets: Sequence[Sequence[str]]) -> bool:
        return model.may_be(question, sets) and (can_be is None or can_be(sets))

    for sets in _partitions(question, names, may_be):
        for parents in nestings(question, sets, nesting, can_lie):
            if not question.ways or any(way.matches(BlockStructure(sets, parents).uses) for way in question.ways):
                yield BlockStructure((*sets, *bare), (*parents, *(OUTSIDE,) * len(bare)))


def _is_bare(question: PlanningProblem, name: str) -> bool:
    """Return True if a component needs no accelerators."""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: PlanningProblem, names: Sequence[str], can_be: CanBe) -> Iterator[Sets]:
    """Yield every set partition in the order of the problem, pruned by `can_be`."""
    place = {name: number for number, name in enumerate(question.components)}

    def extend(position: int, sets: list[list[str]]) -> Iterator[Sets]:
        if position == len(names):
            partition = tuple(
                sorted((tuple(sorted(members, key=place.__getitem__)) for members in sets), key=lambda members: place[members[0]])
            )
            if all(any({first, second} <= set(members) for members in partition) for first, second in question.sharing.together):
                yield partition
            return
        name = names[position]
        for members in sets:
            if all(may_share(question, name, member) for member in members):
                members.append(name)
                if can_be(sets):
                    yield from extend(position + 1, sets)
                members.pop()
        sets.append([name])
        if can_be(sets):
            yield from extend(position + 1, sets)
        sets.pop()

    return extend(0, [])


def nestings(question: PlanningProblem, sets: Sequence[Sequence[str]], nesting: bool, can_lie: CanLie | None = None) -> Iterator[Inside]:
    """Yield the forest without nesting, or every other one; `can_lie` and relations prune partial ones."""
    set_of = {name: number for number, members in enumerate(sets) for name in members}
    within = {(set_of[inner], set_of[outer]) for inner, outer in question.sharing.within if set_of[inner] != set_of[outer]}
    count = len(sets)
    may = [[all(may_nest(question, *pair) for pair in product(inner, outer)) for outer in sets] for inner in sets] if nesting else []
    if nesting and question.sharing.only_within:
        reach = reachable({number: [outer for inner, outer in within if inner == number] for number in range(count)})
        may = [[may_nest_here and place in reach[number] for place, may_nest_here in enumerate(row)] for number, row in enumerate(may)]

    def extend(parents: Inside) -> Iterator[Inside]:
        number = len(parents)
        if number == count:
            if nesting == any(outer != OUTSIDE for outer in parents):
                yield parents
            return
        for outer in (OUTSIDE, *range(count if nesting else 0)):
            longer = (*parents, outer)
            may_be = outer == OUTSIDE or (outer != number and may[number][outer] and number not in _list_around(longer, number))
            if may_be and _obeys(longer, may, within) and (can_lie is None or can_lie(sets, longer)):
                yield from extend(longer)

    return extend(())


def _list_around(parents: Inside, number: int) -> Iterator[int]:
    """Yield the known sets around a set, nearest first; `OUTSIDE` ends a complete chain."""
    while number < len(parents) and number != OUTSIDE:
        number = parents[number]
        yield number


def _obeys(parents: Inside, may: Sequence[Sequence[bool]], within: set[tuple[int, int]]) -> bool:
    """Return True if a partial forest can still satisfy `within`, and shares only where allowed."""
    chains = [tuple(_list_around(parents, number)) for number in range(len(parents))]
    if any(outer != OUTSIDE and not may[number][outer] for number, chain in enumerate(chains) for outer in chain):
        return False
    return not any(inner < len(parents) and chains[inner][-1] == OUTSIDE and outer not in chains[inner] for inner, outer in within)


def may_share(question: PlanningProblem, first: str, second: str) -> bool:
    """Return True if two components may both use an accelerator."""
    pairs = {(first, second), (second, first)}
    if pairs & question.sharing.apart:
        return False
    return question.sharing.alone.isdisjoint((first, second)) or bool(pairs & (question.sharing.together | question.sharing.within))


def may_nest(question: PlanningProblem, first: str, second: str) -> bool:
    """Return True if one component may use only some accelerators of the other."""
    return may_share(question, first, second) and not {(first, second), (second, first)} & question.sharing.whole
