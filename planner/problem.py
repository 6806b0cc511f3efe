"""PlanningProblem of a problem with times: tasks, sharing, what given ranks leave."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Iterator, Mapping, Sequence

from ..models.component import COLOCATED, RANK_ALIGNED, SUBSET, ZERO_COPY, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.topology import domain
from ..models.parallel import Parallel
from ..models.planning.limits import Barred, Crossed, Crossing, Flow, Shared, Use
from ..models.planning.option import NO_KIND, Kind, Option
from ..models.planning.problem import Given, MemoryTurns, PlanningProblem, ScopeUsed, Sharing, Task, Workflow
from ..models.planning.way import Way
from ..models.planning.workload import Budget, Timed, Workload
from ..models.problem import Problem
from ..models.task_order import ordered
from .profile import options, undominated
from .related import Pairs, Related, hold, related
from .room import Room, areas, held_back, room
from .scope import forbids_nesting, led_inside, left_out
from .times import models_there, on_the_slowest

MOST = 4
"""Sorts that are told apart; of more, some count as if whoever may use one of them might use all."""


def asked(problem: Problem, workload: Workload, barred: Sequence[Barred] = (), over_nodes: bool = False) -> PlanningProblem:
    """The question, whose answer is none of the designs that are barred.

    Components whose ranks are given and that nothing relates to a planned one only hold their accelerators. `over_nodes`: tensor parallel
    groups that nothing is said of may lie over nodes, and so may processes where the framework lets them.
    """
    given = [each for each in problem.components if each.runs is not None and not _related(problem, each)]
    parts = [counted(problem, each) for each in problem.components if each not in given]
    space, held = room(problem, given, over_nodes), held_back(problem, given)
    tasks, edges, rounds = ordered(parts, workload)
    every = {each.name: options(problem, each, in_order(each.timed, each.name, tasks), space, workload.handed_on) for each in parts}
    barred = (*barred, *(each for each in strangers(problem, parts, every, space) if each not in barred))
    said = related(problem, parts)
    resident = frozenset(each.name for each in parts if is_resident(each))
    turns = {each.name: each.phases for each in parts if each.phases}
    nested, led = bool(said.within) or workload.nested, led_inside(problem)
    met = {other for _, other in said.in_step}
    arranged = _arranged(problem, frozenset(each.name for each in parts if hold(problem, each.name)))
    told = (*barred, *PlanningProblem(space.kinds, tasks, every, ways=arranged).misshapen)
    ways = {name: undominated(name, its, space, told, name in met, _bound(arranged, name)) for name, its in every.items()}
    return PlanningProblem(
        space.kinds, tasks, ways, Workflow(edges, rounds if workload.flows else (), workload.phases, workload.handed_on),
        MemoryTurns(resident, turns), _sharing(problem, workload, parts, said, nested, led), Given(held, shared(problem, parts, ways, space)),
        _scope(problem, workload, parts, ways, space.kinds), arranged, workload.aim, _left(workload.budget, held), areas(problem, parts, ways, space),
        barred, crossing(problem, workload, parts, said.apart, space),
    )  # fmt: skip


def _sharing(
    problem: Problem, workload: Workload, parts: Sequence[Component], said: Related, nested: bool, led: frozenset[tuple[str, str]]
) -> Sharing:
    """Who may share accelerators with whom; `led` are the pairs that the dialect lets lie inside each other."""
    alone = frozenset(
        each.name
        for each in parts
        if (each.runs is not None and not _lets_all(problem, each, parts))
        or (each.runs is None and each.timed is None and not _goes_along(problem, each, said.together | led))
    )
    forbids = forbids_nesting(workload)
    return Sharing(
        said.together, said.apart, said.within, said.whole, said.not_fewer, said.in_step, said.filling, alone, nested,
        only_within=nested and (forbids or (bool(led) and not workload.nested)), forbids_nesting=forbids,
    )  # fmt: skip


def _scope(
    problem: Problem, workload: Workload, parts: Sequence[Component], ways: Mapping[str, Sequence[Option]], kinds: Sequence[Kind]
) -> ScopeUsed:
    """Models that components may be on, and what the scope leaves out."""
    confined = {
        each.name: its
        for each in parts
        if each.name not in workload.on_models and (its := _confined(problem, each, ways[each.name], kinds))
    }
    return ScopeUsed(workload.over_kinds, workload.on_models, confined, left_out(problem, kinds))


def _confined(problem: Problem, component: Component, its: Sequence[Option], kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The models that a component may be on, where some kind of its options has others too; none where all are open, or its ranks are given."""
    every = {model for option in its if option.kind != NO_KIND for model in kinds[option.kind].models}
    models = models_there(problem, component) if every and component.runs is None else ()
    return models if set(models) < every else ()


def _bound(ways: Sequence[Way], name: str) -> list[Parallel]:
    """The degrees of a component with which its counts go together with other counts of others than with other degrees."""
    found = [degrees for way in ways for each in way.multiples for one, degrees in each.meant if one == name and degrees is not None]
    return list(dict.fromkeys(found))


def _arranged(problem: Problem, names: frozenset[str]) -> tuple[Way, ...]:
    """What the ways of the framework say of these components. Those whose degrees are chosen have those that are, in whatever way."""
    ways = tuple(way.among(names) for way in problem.job.planning.ways)
    chosen = {name for name in problem.job.choices if all(name in way.shapes for way in ways)}
    return tuple(replace(way, shapes={name: its for name, its in way.shapes.items() if name not in chosen}) for way in ways)


def _left(budget: Budget, held: int) -> Budget:
    """What a budget leaves where so many accelerators are held already: it is of all components."""
    return budget if budget.accelerators is None else replace(budget, accelerators=budget.accelerators - held)


def in_order(timed: Timed | None, name: str, tasks: Sequence[Task]) -> Timed | None:
    """The times of a component in the order of its tasks, which may be another than the written one."""
    if timed is None:
        return None
    place = {task.phase: number for number, task in enumerate(tasks) if task.component == name}
    return replace(timed, measured=tuple(sorted(timed.measured, key=lambda each: place[each.phase])))


def counted(problem: Problem, component: Component) -> Component:
    """The component; with its own count where its ranks are given, and the times that it has on their models."""
    if component.runs is None:
        return component
    amount = problem.given().amount(component.name) or component.least  # processes that hold nothing are counted by themselves
    return replace(on_the_slowest(problem, component), least=amount, most=amount)


def is_resident(component: Component) -> bool:
    """Is all of its memory taken all the time? An estimate knows what is there while others work, unless nothing says when it works."""
    if component.timed and component.estimate and not (component.memory or component.offloaded):
        return False
    return not component.phases


def _related(problem: Problem, component: Component) -> bool:
    """Is it planned, or on the accelerators of one that is?"""
    if component.timed:
        return True
    kinds = (COLOCATED, RANK_ALIGNED, ZERO_COPY, SUBSET)
    return any(component.name in relation.components for kind in kinds for relation in problem.related(kind))


def _lets_all(problem: Problem, given: Component, parts: Sequence[Component]) -> bool:
    """May all that is planned use accelerators of a component whose ranks are given?"""
    open_ = {each.name for each in parts if each.runs is None and hold(problem, each.name)}
    return open_ <= problem.job.overlaps.get(given.name, frozenset())


def _goes_along(problem: Problem, component: Component, together: Pairs) -> bool:
    """Is it wherever one is that is planned? Then it is in nobody's way where that one is in nobody's."""
    reached, before = {component.name}, set[str]()
    while reached != before:
        before = set(reached)
        reached |= {name for pair in together if not reached.isdisjoint(pair) for name in pair}
    return any(problem[name].timed and problem[name].runs is None for name in reached)


def strangers(problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: Room) -> tuple[Barred, ...]:
    """The designs in which such a pair shares accelerators of a kind that something tells apart; of other kinds placing them says so."""
    found: list[Barred] = []
    for kind, its in enumerate(room.kinds):
        open_ = [each for each in parts if its.mixed and each.runs is None and any(option.kind == kind for option in options[each.name])]
        allowed = {each.name: room.allowed(problem, each, kind) for each in open_}
        for one, other in combinations(allowed, 2):
            if allowed[one].isdisjoint(allowed[other]):
                uses = {name: Use(kind, 0, None, True) for name in (one, other)}
                pairs = (one, other), (other, one)
                found += (Barred(uses, inside) for inside in (frozenset(pairs), frozenset(pairs[:1]), frozenset(pairs[1:])))
    return tuple(found)


def shared(problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: Room) -> tuple[Shared, ...]:
    """Of what lies over the room (`Room.overlaid`): how many accelerators which of these components may use too."""
    seats = [(rank, index) for rank, mask in room.overlaid.items() for index in range(mask.bit_length()) if mask >> index & 1]
    kinds_of = {rank: frozenset(kind for kind, its in enumerate(room.nodes) if any(node.rank == rank for node in its)) for rank, _ in seats}
    reached = {each.name: _reached(problem, each, options[each.name], room) for each in parts if hold(problem, each.name)} if seats else {}
    found: dict[tuple[frozenset[int], frozenset[str]], int] = {}
    for seat in seats:
        key = kinds_of[seat[0]], frozenset(name for name, its in reached.items() if seat in its)
        found[key] = found.get(key, 0) + 1
    sorts = [Shared(count, kinds, users) for (kinds, users), count in found.items()]
    while len(sorts) > MOST:
        one, other = min(combinations(sorts, 2), key=lambda pair: pair[0].accelerators + pair[1].accelerators)
        both = Shared(one.accelerators + other.accelerators, one.kinds | other.kinds, one.users | other.users)
        sorts = [each for each in sorts if each not in (one, other)] + [both]
    return tuple(sorts)


def _reached(problem: Problem, component: Component, options: Sequence[Option], room: Room) -> frozenset[object]:
    """The accelerators of the room that it may use or, where its ranks are given, that it has."""
    if component.runs is not None:
        return frozenset(problem.given().accelerators(component.name))
    kinds = {option.kind for option in options if option.accelerators}
    return frozenset(place for kind in kinds for place in room.places(problem, component, kind))


def crossing(problem: Problem, workload: Workload, parts: Sequence[Component], apart: Pairs, space: Room) -> Crossing | None:
    """What can cross; None where nothing can.

    What components exchange whose ranks are given crosses in every design. That of others which may be on the very same accelerators as
    one of them is counted only where they must.
    """
    if not (workload.bandwidth and space.kinds):
        return None
    from ..solver.objectives.domains import several  # which load all terms of the objective, that few questions need
    from .traffic import Traffic

    traffic = Traffic(problem, workload)
    asked = traffic.asked(problem)
    levels = tuple(_level(asked, level, cost, space) for level, cost in traffic.costs.items() if several(asked, level))
    open_ = set(_open(problem, parts, apart))
    placed = {each.name for each in parts if problem.kind(each) == ACCELERATOR}
    exchanged = {each.name: each.traffic for each in parts if each.name in open_ and each.traffic}
    flows = tuple(
        Flow(link.source, link.target, link.weights, link.stream, link.ratio)
        for link in problem.job.links
        if {link.source, link.target} <= placed and not open_.isdisjoint((link.source, link.target)) and (link.weights or link.stream)
    )
    fixed = traffic.fixed
    return Crossing(levels, exchanged, flows, fixed) if levels and (exchanged or flows or fixed) else None


def _open(problem: Problem, parts: Sequence[Component], apart: Pairs) -> Iterator[str]:
    """The components whose place is searched, whatever the design."""
    given = [each.name for each in parts if each.runs is not None and problem.kind(each) == ACCELERATOR]
    searched = [each.name for each in parts if each.runs is None and problem.kind(each) == ACCELERATOR]
    yield from (name for name in searched if all((name, other) in apart or (other, name) in apart for other in given))


def _level(asked: Problem, level: str, cost: int, space: Room) -> Crossed:
    """Room in each domain of a level, by kind."""
    names = tuple(dict.fromkeys(domain(node, level) for node in asked.cluster.nodes))
    where = {node.rank: domain(node, level) for node in asked.cluster.nodes}
    free = tuple(
        tuple(tuple(space.free[node.rank] for node in nodes if where[node.rank] == name) for name in names) for nodes in space.nodes
    )
    return Crossed(cost, free)
