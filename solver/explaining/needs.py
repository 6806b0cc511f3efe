"""Needs of a job: accelerators of each component, where they are, and the least in all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from math import lcm, prod
from typing import AbstractSet as Set
from typing import Container, Iterable, Mapping

from ...models.component import APART, DISJOINT, IN_ORDER, Component
from ...models.counts import Counts
from ...models.job import Job
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...models.parallel import Parallel
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.sharing import Members, around, holders
from ...models.text.document import Document
from ..stretches import stretches

MOST_CHOICES = 4096
"""Of more choices of degrees for components on the same accelerators each is counted alone."""
MOST_EXACT = 16
"""Of more sets that may share, some are tried with those that need most beside them: what these need together is a bound too."""
MOST_TRIED = 64
"""So many of those that need most."""


Within = Mapping[str, frozenset[str]]
"""Component -> itself, those that are on the same accelerators, and those within which it lies, directly or not."""
Layout = tuple[tuple[int, int], ...]
"""(number of nodes, resources on each of them), in the order of the nodes; as many on each come together."""


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


@dataclass(frozen=True, slots=True)
class Need:
    """What one component needs.

    Attributes
    ----------
    kind : what it is placed on: ``Accelerator``, a hardware type, or ``node``.
    processes : its world size; None where its place is not known yet.
    layout : on how many nodes it is with how much on each: resources of its kind, or processes where nodes are the resource.
    held : resources of its kind that it holds, one that its processes share counted once; 0 where nodes are the resource.
    cpus : CPUs that are reserved for all its processes together; 0 if that is not known.
    asked : (least, most) resources that it asks for where it is left to solve; None if it is not.
    counts : of these, the numbers that it asks for, as ranges; none where any is as good.
    written : its ranks as they are written, where what they are cannot be told without the machines.
    """

    name: str
    kind: str
    processes: int | None
    layout: Layout = ()
    held: int = 0
    cpus: int = 0
    asked: tuple[int, int] | None = None
    counts: Counts = ()
    written: str = ""

    @property
    def accelerators(self) -> int:
        """How many accelerators it holds."""
        return self.held if self.kind == ACCELERATOR else 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What all components need together, and what there is.

    Attributes
    ----------
    accelerators : held by any component.
    open : accelerators that those which are left to solve need besides, at the least: with the choices of degrees that were read, where
        nobody knows of `not_read` others what follows from them, and of `sizes_not_read` of pools which degrees come out on them.
    nodes : on which any component is.
    there, nodes_there : accelerators and nodes of the cluster; `there` is None where nobody said how many.
    idle : accelerators that no component holds and no other job has taken.
    cpus : reserved for all processes, of colocated components, which share theirs, those of the one that reserves most.
    """

    each: tuple[Need, ...]
    accelerators: int
    nodes: int
    open: int
    there: int | None
    nodes_there: int
    idle: int
    cpus: int = 0
    not_read: int = 0
    sizes_not_read: int = 0


def needs_of(problem: Problem, document: Document, unknown: Container[str] = (), planned: Problem | None = None) -> Needs:
    """What a job needs; of components that are `unknown` the accelerators are, not the processes.

    `planned` is the problem that a search is given: it may give up ranks, and knows which degrees come out on which counts. Cost grows
    with runs and with nodes that differ.
    """
    given = problem.given()
    layouts: dict[str, dict[int, int]] = {}
    used = touched = idle = 0
    for nodes, node, held in stretches(problem, given):
        mask = 0
        for (name, kind), its in held.items():
            mask |= its if kind == ACCELERATOR else 0
            if its:
                layout = layouts.setdefault(name, {})
                layout[its.bit_count()] = layout.get(its.bit_count(), 0) + len(nodes)
        used += mask.bit_count() * len(nodes)
        touched += len(nodes) if held else 0
        idle += (node.free(ACCELERATOR) & ~mask).bit_count() * len(nodes)
    each = tuple(_need(problem, component, given, layouts.get(component.name, {}), document) for component in problem.components)
    each = tuple(replace(need, processes=None, cpus=0) if need.name in unknown else need for need in each)
    counted, cluster = problem.cluster.counted, problem.cluster
    cpus = sum(need.cpus for need in each)
    there = cluster.total() if counted else None
    searched = planned.job if planned is not None else problem.job
    least = at_least(_as_searched(problem, searched), frozenset(searched.planning.own))
    return Needs(
        each,
        used,
        touched,
        least,
        there,
        len(cluster.nodes),
        idle if counted else 0,
        cpus,
        searched.planning.not_read,
        searched.planning.sizes_not_read,
    )


def _as_searched(problem: Problem, searched: Job) -> Problem:
    """The problem with the degrees that a search chooses from, and what follows from them."""
    job = replace(
        problem.job,
        choices=searched.choices,
        planning=replace(
            problem.job.planning,
            tied=searched.planning.tied,
            followed=searched.planning.followed,
            shapes=searched.planning.shapes,
            ways=searched.planning.ways,
        ),
    )
    return replace(problem, job=job)


def _need(problem: Problem, component: Component, given: Assignment, layout: dict[int, int], document: Document) -> Need:
    name, kind = component.name, problem.kind(component)
    span = component.spans.get("placement")
    if component.runs is None and span:
        groups = "" if component.node_groups == (CLUSTER_LABEL,) else f"{','.join(component.node_groups)} "
        return Need(name, kind, None, written=groups + document.excerpt(span))
    if component.runs is None:
        return Need(name, kind, None, asked=(component.least, component.most), counts=component.counts)
    processes = given.world_size(name)
    layout = layout or Counter(given.processes_on(name).values())
    found = tuple((nodes, count) for count, nodes in layout.items())
    return Need(name, kind, processes, found, given.held(name, kind), component.cpus * processes)
