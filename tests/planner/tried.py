"""Every design of a small question, from the words of the question alone: nothing of the search, of its structures or of its bounds.

A design is a choice of options, a number of accelerators for each set of components that may share them, and a part of the iteration for
each task. All of them are made, what the question forbids is left out, and the time is counted once more from what the models say.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations, product
from typing import Iterator, Mapping, Sequence

from placewright.models.planning.design import Block, Design
from placewright.models.planning.option import NO_KIND, Option
from placewright.models.planning.problem import Edge, PlanningProblem
from placewright.models.planning.workload import SECONDS

Options = Mapping[str, Option]
Uses = Mapping[str, frozenset[int]]
Price = tuple[int, int]
Sets = tuple[tuple[int, tuple[str, ...]], ...]


def designs(question: PlanningProblem, stages: bool) -> Iterator[Design]:
    """Every design that the question allows. `stages`: the part of a task is that of its phase, and parts may share accelerators."""
    divisions: dict[Sets, tuple[tuple[int, ...], ...]] = {}  # they do not depend on how many accelerators there are
    for chosen in product(*question.options.values()):
        options = dict(zip(question.options, chosen))
        fitting: dict[Sets, bool] = {}
        for blocks in _blocks(question, options):
            sets = tuple((block.kind, block.components) for block in blocks)
            if sets not in divisions:
                uses = {name: frozenset(place for place, (_, its) in enumerate(sets) if name in its) for name in options}
                divisions[sets] = tuple(_segments(question, uses, stages)) if _related(question, uses) else ()
            if not divisions[sets]:
                continue
            if sets not in fitting:
                fitting[sets] = all(_held(question, options, block) for block in blocks)
            if fitting[sets]:
                yield from (Design(blocks, options, segments) for segments in divisions[sets])


def cost(question: PlanningProblem, design: Design, stages: bool, known: dict[object, int] | None = None) -> int:
    """Nanoseconds of an iteration, by the definitions of the models. `known`: what parts of it take with the same options."""
    known = {} if known is None else known
    sets = tuple(block.components for block in design.blocks) if stages else ()
    of_batches = 0
    for part in _parts(design.segments):
        if (sets, part) not in known:
            times = [design.nanoseconds(question, task) for task in range(len(question.tasks))]
            uses = {name: frozenset(design.blocks_of(name)) for name in question.options}
            known[sets, part] = (_stage if stages else _pipeline)(question, uses, times, part)
        of_batches += known[sets, part]
    assert of_batches % question.flow.batches == 0
    return of_batches // question.flow.batches


@cache
def _parts(segments: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The tasks of each part."""
    return tuple(tuple(task for task, its in enumerate(segments) if its == part) for part in sorted(set(segments)))


def priced(question: PlanningProblem, stages: bool) -> Iterator[tuple[Price, Design]]:
    """Every design within the budget, with what is as small as possible and what comes second."""
    options: Options | None = None
    for design in designs(question, stages):
        if design.options is not options:
            options, known = design.options, dict[object, int]()
        time, used = cost(question, design, stages, known), design.accelerators
        over_time = question.budget.nanoseconds is not None and time > question.budget.nanoseconds
        if not over_time and (question.budget.accelerators is None or used <= question.budget.accelerators):
            yield (time, used) if question.aim == SECONDS else (used, time), design


def shape(question: PlanningProblem, design: Design) -> object:
    """Who uses the same accelerators as whom or is inside whom, and which tasks run in one part; the order of parts is left open."""
    uses = {name: frozenset(design.blocks_of(name)) for name in question.options}
    pairs = [(one, other) for one in uses for other in uses if one != other and uses[one] and uses[one] <= uses[other]]
    parts = [frozenset(task for task, segment in enumerate(design.segments) if segment == part) for part in set(design.segments)]
    return frozenset(pairs), frozenset(parts)


def needlessly_apart(question: PlanningProblem, design: Design) -> bool:
    """Could two parts of the iteration be one, whatever order the parts come in? Then the design that has them so takes no longer."""
    uses = {name: frozenset(design.blocks_of(name)) for name in question.options}
    return could_be_fewer(question, uses, design.segments)


def could_be_fewer(question: PlanningProblem, uses: Uses, segments: Sequence[int]) -> bool:
    """Is there an order of the parts in which all of them run, two of them as one?"""
    for one, other in combinations(sorted(set(segments)), 2):
        merged = in_order(question, [one if part == other else part for part in segments])
        if merged is not None and may_run(question, uses, merged):
            return True
    return False


def in_order(question: PlanningProblem, parts: Sequence[int]) -> tuple[int, ...] | None:
    """The same parts, numbered so that none waits for a later one; None where some wait for each other."""
    return _in_order(tuple((edge.earlier, edge.later) for edge in question.flow.edges), tuple(parts))


@lru_cache(maxsize=100_000)
def _in_order(edges: Sequence[tuple[int, int]], parts: tuple[int, ...]) -> tuple[int, ...] | None:
    found: list[int] = []
    while left := sorted(set(parts).difference(found)):
        ready = [
            part
            for part in left
            if all(parts[earlier] in (part, *found) for earlier, later in edges if parts[later] == part)
        ]  # fmt: skip
        if not ready:
            return None
        found.append(ready[0])
    return tuple(found.index(part) for part in parts)


def _blocks(question: PlanningProblem, options: Options) -> list[tuple[Block, ...]]:
    """Every way to lay the components over accelerators: so many of each kind for each set of components."""
    wanted = tuple((name, option.kind, option.amount) for name, option in options.items() if option.kind != NO_KIND)
    return _laid(wanted, tuple(kind.accelerators for kind in question.kinds))


@lru_cache(maxsize=250)
def _laid(wanted: tuple[tuple[str, int, int], ...], total: tuple[int, ...]) -> list[tuple[Block, ...]]:
    """The same from (name, kind, amount) of each component and the accelerators of each kind."""
    kinds = {name: kind for name, kind, _ in wanted}
    subsets = [its for size in range(len(kinds), 0, -1) for its in combinations(kinds, size)]
    subsets = [its for its in subsets if len({kinds[name] for name in its}) == 1]

    last = {name: position for position, its in enumerate(subsets) for name in its}

    def extend(position: int, left: dict[str, int], room: tuple[int, ...], blocks: tuple[Block, ...]) -> Iterator[tuple[Block, ...]]:
        if position == len(subsets):
            yield blocks
            return
        its = subsets[position]
        kind, rest = kinds[its[0]], {left[name] for name in its if last[name] == position}  # which no later set takes
        for size in range(min(room[kind], *(left[name] for name in its)) + 1):
            if rest and rest != {size}:
                continue
            if not size:
                yield from extend(position + 1, left, room, blocks)
                continue
            smaller = {name: amount - size if name in its else amount for name, amount in left.items()}
            free = tuple(amount - size if number == kind else amount for number, amount in enumerate(room))
            yield from extend(position + 1, smaller, free, (*blocks, Block(kind, size, its)))

    return list(extend(0, {name: amount for name, _, amount in wanted}, total, ()))


def _related(question: PlanningProblem, uses: Uses) -> bool:
    """Do the components share accelerators as they must and as they may?"""
    for one, other in combinations(uses, 2):
        mine, theirs = uses[one], uses[other]
        if mine & theirs and not (mine <= theirs or theirs <= mine):
            return False  # some accelerators in common, and each has others
        if mine & theirs and mine != theirs and not question.sharing.nested:
            return False
        if (
            question.sharing.only_within
            and mine & theirs
            and mine != theirs
            and not _is_demanded(question, uses, *sorted((mine, theirs), key=len))
        ):
            return False
        pair = {(one, other), (other, one)}
        stranger = one in question.sharing.alone or other in question.sharing.alone
        if mine & theirs and stranger and not pair & (question.sharing.together | question.sharing.within):
            return False
    return (
        all(uses[one] == uses[other] for one, other in question.sharing.together)
        and all(not uses[one] & uses[other] for one, other in question.sharing.apart)
        and all(uses[one] <= uses[other] for one, other in question.sharing.within)
    )


def _is_demanded(question: PlanningProblem, uses: Uses, inner: frozenset[int], outer: frozenset[int]) -> bool:
    """Is something on the inner accelerators to be within what is on the outer ones, or within what is to lie there?"""
    steps = [uses[other] for one, other in question.sharing.within if uses[one] == inner and uses[other] != inner]
    return any(step == outer or _is_demanded(question, uses, step, outer) for step in steps if inner < step)


def _segments(question: PlanningProblem, uses: Uses, stages: bool) -> Iterator[tuple[int, ...]]:
    """Every division of the tasks into parts, one after the other."""
    count = len(question.tasks)
    if stages:
        yield tuple(question.flow.phases.index(task.phase) for task in question.tasks)
        return
    for segments in _divisions(count, tuple(question.flow.edges)):
        if may_run(question, uses, segments):
            yield segments


@lru_cache(maxsize=1_000)
def _divisions(count: int, edges: tuple[Edge, ...]) -> list[tuple[int, ...]]:
    """Every division of so many tasks into parts in which nothing runs before what it works on."""
    numbered = (segments for segments in product(range(count), repeat=count) if set(segments) == set(range(max(segments, default=-1) + 1)))
    return [segments for segments in numbered if _in_turn(edges, segments)]


def _in_turn(edges: Sequence[Edge], segments: Sequence[int]) -> bool:
    """Does nothing run before what it works on?"""
    return not any(
        segments[edge.earlier] > segments[edge.later] or (edge.whole and segments[edge.earlier] == segments[edge.later]) for edge in edges
    )


def may_run(question: PlanningProblem, uses: Uses, segments: Sequence[int]) -> bool:
    """Does nothing run before what it works on, beside what is on the same accelerators, or apart from its round?"""
    if not _in_turn(question.flow.edges, segments):
        return False
    for (one, first), (other, second) in combinations(enumerate(question.tasks), 2):
        if segments[one] == segments[other] and _take_turns(question, uses, first.component, second.component):
            return False
    return all(_goes_round(question, uses, segments, its) for its in question.flow.rounds)


def _take_turns(question: PlanningProblem, uses: Uses, one: str, other: str) -> bool:
    """Can these components not work at the same time?"""
    return one == other or bool(uses[one] & uses[other])


def _goes_round(question: PlanningProblem, uses: Uses, segments: Sequence[int], its: frozenset[int]) -> bool:
    """All at once; each by itself where two of them share accelerators, or one waits for all of another."""
    pairs = [(question.tasks[one].component, question.tasks[other].component) for one, other in combinations(its, 2)]
    alone = any(_take_turns(question, uses, one, other) for one, other in pairs)
    alone = alone or any(edge.whole and {edge.earlier, edge.later} <= its for edge in question.flow.edges)
    return len({segments[task] for task in its}) == (len(its) if alone else 1)


def _held(question: PlanningProblem, options: Options, block: Block) -> bool:
    """Is there memory while each phase, or a component that names none, has its turn, beside what the others keep?

    What its framework does not start there needs none, and who does its work has its turns as well.
    """
    limit, done = question.kinds[block.kind].memory, _done_by_others(question, block)

    def has(name: str, turn: str | None) -> bool:
        return turn in question.memory.turns[name] if question.memory.turns.get(name) else turn == name

    for turn in (None, *block.components, *{phase for phases in question.memory.turns.values() for phase in phases}):
        needed = 0
        for name in (name for name in block.components if name not in done):
            works = has(name, turn) or any(has(other, turn) for other, worker in done.items() if worker == name)
            needed += options[name].memory if works or name in question.memory.resident else options[name].kept
        if limit is not None and needed > limit:
            return False
    return True


def _done_by_others(question: PlanningProblem, block: Block) -> Mapping[str, str]:
    """Components of a block that are not started in the only way that has them beside another one there -> that other one."""
    found = {}
    for way in question.ways:
        for pair in way.together:
            elsewhere = all(pair in other.apart or pair[::-1] in other.apart for other in question.ways if other is not way)
            if elsewhere and set(pair) <= set(block.components):
                found.update({name: other for name, other in (pair, pair[::-1]) if name in way.without})
    return found


def _stage(question: PlanningProblem, uses: Uses, times: Sequence[int], part: Sequence[int]) -> int:
    """The busiest accelerator is busy for so long, of all batches; a component without accelerators is busy by itself."""
    accelerators = {block for its in uses.values() for block in its}
    busy = [sum(times[task] for task in part if block in uses[question.tasks[task].component]) for block in accelerators]
    of_each = [sum(times[task] for task in part if question.tasks[task].component == name) for name in uses]
    return max([*busy, *of_each]) * question.flow.batches


def _pipeline(question: PlanningProblem, uses: Uses, times: Sequence[int], part: Sequence[int]) -> int:
    """The first batch goes through the longest chain, then each of the others takes as long as the slowest task: so long, of all batches."""

    def until(task: int) -> int:
        before = [edge.earlier for edge in question.flow.edges if edge.later == task and edge.earlier in part]
        return times[task] + max(map(until, before), default=0)

    return max(map(until, part)) + (question.flow.batches - 1) * max(times[task] for task in part)
