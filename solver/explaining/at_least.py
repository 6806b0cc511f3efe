"""How many accelerators the components that are left to solve need at the least, besides those of given ranks: whatever a search finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import lcm, prod
from typing import AbstractSet as Set
from typing import Iterable, Mapping

from ...models.component import APART, DISJOINT, IN_ORDER, Component
from ...models.machines.node_group import ACCELERATOR
from ...models.parallel import Parallel
from ...models.problem import Problem
from ...models.sharing import Members, around, holders

MOST_CHOICES = 4096
"""Of more choices of degrees for components on the same accelerators each is counted alone."""
MOST_EXACT = 16
"""Of more sets that may share, some are tried with those that need most beside them: what these need together is a bound too."""
MOST_TRIED = 64
"""So many of those that need most."""


def at_least(problem: Problem, moved: Set[str] = frozenset()) -> int:
    """The most that any components need together of which no two may share; what may share counts once.

    What works in turns may share where counts are chosen by time, unless the file says otherwise; else only what the file allows. `moved`
    are components whose given ranks a search gives up: it may put others on their accelerators. Where more than their degrees follows from
    a choice, it is the least of any choice.
    """
    if problem.job.planning.followed:
        from ...models.tied_degrees import with_degrees

        return min(at_least(with_degrees(problem, each.degrees), moved) for each in problem.job.planning.followed)
    sets = [its for members in holders(problem) if (its := tuple(each for each in members if problem.kind(each) == ACCELERATOR))]
    found = [members for members in sets if all(each.runs is None for each in members)]
    within = _within(problem, sets)
    weights = [_least(problem, members) - _shared(problem, members, within, moved) for members in found]
    needing = [index for index, weight in enumerate(weights) if weight > 0]
    share = _that_share(problem, found, needing, within)
    return sum(_heaviest(part, weights, share) for part in _parts(share))


Within = Mapping[str, frozenset[str]]
"""Component -> itself, those that are on the same accelerators, and those within which it lies, directly or not."""


def _within(problem: Problem, sets: Iterable[Members]) -> Within:
    home = {each.name: members for members in holders(problem) for each in members}
    outers = around(problem, holders(problem))
    found = dict[str, frozenset[str]]()
    for members in sets:
        its = {each.name for each in members}
        for outer in outers[home[members[0].name][0].name]:
            its |= {each.name for each in outer}
        found.update((each.name, frozenset(its)) for each in members)
    return found


def _least(problem: Problem, members: Members) -> int:
    """What components on the same accelerators need, with the degrees that need least."""
    job = problem.job
    choices = [job.choices.get(job.planning.tied.get(each.name, each.name), (each.parallel,)) for each in members]
    least = max(each.least for each in members)
    if prod(map(len, choices)) > MOST_CHOICES:
        return max(_least(problem, (each,)) for each in members) if len(members) > 1 else least
    steps = (lcm(*(_step(problem, each, its) for each, its in zip(members, degrees))) for degrees in product(*choices))
    return min(-(-least // step) * step for step in steps)


def _step(problem: Problem, component: Component, parallel: Parallel) -> int:
    """What its count is a multiple of with these degrees, in the processes that the dialect makes of it then."""
    shape = problem.job.planning.shapes.get(component.name, {}).get(parallel)
    if shape is None:
        return replace(component, parallel=parallel).step
    return replace(component, per_process=shape.per_process, stride=shape.stride, parallel=shape.parallel).step


def _shared(problem: Problem, members: Members, within: Within, moved: Set[str]) -> int:
    """How many accelerators of given ranks they may use."""
    names, shared = {each.name for each in members}, 0
    for given in problem.components:
        if given.runs is not None and problem.kind(given) == ACCELERATOR:
            lets = problem.job.overlaps.get(given.name, frozenset())
            around_it = within.get(given.name, frozenset())
            if given.name in moved or names & lets or names & around_it or given.name in within[members[0].name]:
                shared += problem.given().held(given.name, ACCELERATOR)
    return shared


def _that_share(problem: Problem, sets: list[Members], needing: list[int], within: Within) -> dict[int, set[int]]:
    """Number of a set -> those with which it may share accelerators in some answer."""
    found: dict[int, set[int]] = {index: set() for index in needing}
    number = {each.name: index for index in needing for each in sets[index]}
    for index in needing:
        for other in {number[name] for name in within[sets[index][0].name] if name in number} - {index}:
            found[index].add(other)
            found[other].add(index)
    if problem.job.planning.workload is None:
        return found
    said = {frozenset(pair) for pair in _said_to_be_apart(problem)}
    in_turn = [index for index in needing if any(each.timed for each in sets[index])]
    for one, other in combinations(in_turn, 2):
        mine, its = (within[sets[index][0].name] for index in (one, other))
        if not any(frozenset((a, b)) in said for a in mine for b in its):
            found[one].add(other)
            found[other].add(one)
    return found


def _said_to_be_apart(problem: Problem) -> Iterable[tuple[str, str]]:
    for kind in (DISJOINT, APART):
        yield from ((relation.components[0], relation.components[1]) for relation in problem.related(kind))
    for relation in problem.related(IN_ORDER):
        yield from combinations(relation.components, 2)


def _parts(share: Mapping[int, Set[int]]) -> Iterable[list[int]]:
    """The sets in parts: two of different parts share nothing."""
    left = dict.fromkeys(share)
    while left:
        part = [next(iter(left))]
        del left[part[0]]
        for one in part:
            near = [other for other in share[one] if other in left]
            part += near
            for other in near:
                del left[other]
        yield part


def _heaviest(part: list[int], weights: list[int], share: Mapping[int, Set[int]]) -> int:
    """The most that any of these need together of which no two share."""
    order = sorted(part, key=lambda index: -weights[index])
    if len(order) > MOST_EXACT:
        return max(_with(first, order, weights, share) for first in order[:MOST_TRIED])
    if not order:
        return 0
    first, rest = order[0], order[1:]
    alone = [index for index in rest if index not in share[first]]
    with_it = weights[first] + _heaviest(alone, weights, share)
    return with_it if len(alone) == len(rest) else max(with_it, _heaviest(rest, weights, share))


def _with(first: int, order: list[int], weights: list[int], share: Mapping[int, Set[int]]) -> int:
    """What one needs together with others, each taken if it shares with none before it."""
    kept = [first]
    for index in order:
        if index != first and share[index].isdisjoint(kept):
            kept.append(index)
    return sum(weights[index] for index in kept)
