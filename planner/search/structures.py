"""Structures: set partitions of the components, or forests of sets with nesting.

Partial partitions and forests are pruned as soon as a relation, the cost model or a lower bound
excludes them. A structure is complete once the iteration is divided too, into segments that run one
after another: only maximal segments are enumerated (no two can be merged), in one canonical order,
with task sets as bit masks.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, reduce
from itertools import combinations, permutations, product
from operator import or_
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import NO_KIND
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import reachable
from ...models.record import dataclass

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
            if not question.ways or any(arrangement.matches(BlockStructure(sets, parents).uses) for arrangement in question.ways):
                yield BlockStructure((*sets, *bare), (*parents, *(OUTSIDE,) * len(bare)))


def _is_bare(question: PlanningProblem, name: str) -> bool:
    """Return True if a component needs no accelerators."""
    options = question.options[name]
    return bool(options) and options[0].kind == NO_KIND


def _partitions(question: PlanningProblem, names: Sequence[str], can_be: CanBe) -> Iterator[Sets]:
    """Yield every set partition in the order of the problem, pruned by `can_be`."""

    def extend(position: int, sets: list[list[str]]) -> Iterator[Sets]:
        if position == len(names):
            partition = tuple(map(tuple, sets))
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


Tasks = int
"""Set of tasks as a bit mask, the first task of the problem lowest."""
KNOWN = 1 << 14
"""Size of the cache by tasks; a search repeats the same sets."""


def segmentations(question: PlanningProblem, model: CostModel, users: Sets) -> Iterator[tuple[int, ...]]:
    """Yield each segmentation once, without mergeable segments: for each task its segment.

    Two mergeable segments are never better than one (dominance): no cost model counts more for all
    of their tasks at once than for one segment after the other, and neither memory nor accelerators
    depend on segments. The same segments in another order take as long: they come in one order, in
    which of segments that need not wait the one with the first task comes first.
    """
    tasks = range(len(question.tasks))
    if model.by_phase:
        yield tuple(model.segment(question, task) for task in tasks)
        return
    cutting = _Cutting(question, model, users)
    yield from cutting.extend(reduce(or_, cutting.units, 0), ())


class _Segment(NamedTuple):
    """A segment of a partial segmentation: its tasks, and the tasks that cannot run in it.

    `waits` : earlier segments that must end before this one in every order, as bits.
    """

    tasks: Tasks
    apart: Tasks
    waits: int


class _Cutting:
    """Conflicts and precedences of tasks.

    `units` : sets of tasks that always run together, by the first task of each. `apart` : for each
    task, the tasks in conflict with it. `before` : for each task, its predecessors.
    """

    def __init__(self, question: PlanningProblem, model: CostModel, users: Sets) -> None:
        count, edges, pairs_apart = len(question.tasks), question.flow.edges, conflicts(question, model, users)
        whole = {(edge.earlier, edge.later) for edge in edges if edge.whole}
        self.units = units(question, pairs_apart)
        self.apart = _pair_tasks(pairs_apart | whole | {(later, earlier) for earlier, later in whole}, count)
        self.before = _pair_tasks({(edge.later, edge.earlier) for edge in edges}, count)

    def extend(self, remaining: Tasks, parts: tuple[_Segment, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every segmentation that begins with `parts`: for each task its segment."""
        if not remaining:
            segment_of = {task: number for number, part in enumerate(parts) for task in numbers(part.tasks)}
            yield tuple(segment_of[task] for task in range(len(self.apart)))
        for tasks in self._list_next(remaining):
            if (part := self._part(tasks, parts)) is not None:
                yield from self.extend(remaining & ~tasks, (*parts, part))

    def _list_next(self, remaining: Tasks) -> Sequence[Tasks]:
        """Return the task sets that can be the next segment, largest first."""
        units = [unit for unit in self.units if unit & remaining]
        candidates = []

        def extend(place: int, tasks: Tasks, excluded: Tasks, before: Tasks) -> None:
            for number in range(place, len(units)):
                unit = units[number]
                if not unit & excluded:
                    unit_apart, unit_before = _unite(self.apart, unit), _unite(self.before, unit)
                    if not unit_apart & (tasks | unit):
                        extend(number + 1, tasks | unit, excluded | unit_apart, before | unit_before)
            if tasks and not before & remaining & ~tasks:
                candidates.append(tasks)

        extend(0, 0, 0, 0)
        return sorted(candidates, key=lambda tasks: (-tasks.bit_count(), numbers(tasks)))

    def _part(self, tasks: Tasks, parts: Sequence[_Segment]) -> _Segment | None:
        """Return these tasks as the next segment; None if mergeable or movable."""
        before, waits, indirect_waits = _unite(self.before, tasks), 0, 0
        for number, part in enumerate(parts):
            if part.tasks & before:
                waits |= part.waits | 1 << number
                indirect_waits |= part.waits
        if any(not part.apart & tasks and not indirect_waits >> number & 1 for number, part in enumerate(parts)):
            return None
        for part in reversed(parts):
            if part.tasks & before:
                break
            if part.tasks & -part.tasks > tasks & -tasks:
                return None
        return _Segment(tasks, _unite(self.apart, tasks), waits)


def _unite(sets: Sequence[Tasks], tasks: Tasks) -> Tasks:
    """Return the union of these sets over the tasks."""
    union = 0
    for task in numbers(tasks):
        union |= sets[task]
    return union


def _pair_tasks(pairs: set[tuple[int, int]], count: int) -> tuple[Tasks, ...]:
    """Return, for each task, the tasks paired with it."""
    return tuple(reduce(or_, (1 << second for first, second in pairs if first == task), 0) for task in range(count))


def units(question: PlanningProblem, pairs_apart: set[tuple[int, int]]) -> tuple[Tasks, ...]:
    """Return the sets of tasks that always run together."""
    units = [1 << task for task in range(len(question.tasks))]
    for round_tasks in question.flow.rounds:
        if pairs_apart.isdisjoint(combinations(sorted(round_tasks), 2)):
            members = sum(1 << task for task in round_tasks)
            union = reduce(or_, (unit for unit in units if unit & members))
            units = [union, *(unit for unit in units if not unit & union)]
    return tuple(sorted(units, key=lambda unit: unit & -unit))


def conflicts(question: PlanningProblem, model: CostModel, users: Sets) -> set[tuple[int, int]]:
    """Return ordered pairs of tasks that cannot run together; a round conflicts as a whole."""
    whole = {(edge.earlier, edge.later) for edge in question.flow.edges if edge.whole}
    pairs_sharing = {(first, second) for names in users for first in names for second in names}
    pairs = set()
    for a, b in combinations(range(len(question.tasks)), 2):
        first, second = question.tasks[a].component, question.tasks[b].component
        if first == second or (not model.turns and (first, second) in pairs_sharing):
            pairs |= {(a, b), (b, a)}
    for round_tasks in question.flow.rounds:
        if any(pair in pairs or pair in whole for pair in combinations(sorted(round_tasks), 2)):
            pairs |= set(permutations(round_tasks, 2))
    return pairs


@lru_cache(maxsize=KNOWN)
def numbers(tasks: Tasks) -> tuple[int, ...]:
    """Return the indices of the tasks, ascending."""
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
