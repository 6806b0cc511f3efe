"""Planned components over given ranks that others may use too."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Iterator, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ...models.component import DISJOINT, SUBSET, TOGETHER, Component, Relation
from ...models.findings.finding import error
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment, Seat, compress
from ...models.planning.workload import SECONDS, Workload
from ...models.problem import Problem
from ..layout.parts import Parts
from ..refuting.census import CountingRow
from ..refuting.certificate import counting_row
from ..wording import join_names

MOST = 32
"""Maximum number of placements tried."""
GROUND = "what may be used"
"""Name of the stand-in for all usable accelerators; component names have no spaces."""


def lying_over(problem: Problem, place: Solve, workload: Workload) -> Answer:
    """Place on few accelerators, shared given ranks included (`Job.overlaps`).

    The counts of a design give a lower bound of all held accelerators. A placement beside the given
    ranks that holds more is the answer only if no smaller one is found; minimality is not proved.
    If traffic counts as time, it comes first, and a placement within the budget stays. A placement
    beyond the budget of accelerators is none.
    """
    budget, by_time = workload.budget.accelerators, workload.aim == SECONDS and bool(workload.bandwidth)
    answer = place_over_given(problem, place)
    if answer.plan is None or not problem.job.overlaps or not problem.hinted:
        return answer
    used, lower_bound = all_held(problem, answer.plan.assignment), _least(problem, answer.plan.assignment)
    enough = max(lower_bound, budget or 0) if by_time else lower_bound
    if used > enough and not (by_time and budget is None):
        for seats in islice(_few_seats(problem, answer.plan.assignment, lower_bound, used), MOST):
            over = place_within(place, problem, seats)
            if over.plan is not None and (now := all_held(problem, over.plan.assignment)) < used:
                answer, used = over, now
                if used <= enough:
                    break
    return answer if budget is None or used <= budget else _report_undecided(problem, used, budget)


def all_held(problem: Problem, placed: Assignment) -> int:
    """Return the number of accelerators held by all components."""
    return len(frozenset[Seat]().union(*(placed.accelerators(component.name) for component in problem.components)))


def _least(problem: Problem, placed: Assignment) -> int:
    """Return a lower bound of the accelerators held with these counts."""
    given, overlaps = problem.build_given(), problem.job.overlaps
    fixed = {component.name: given.accelerators(component.name) for component in problem.components if component.runs is not None}
    every = frozenset[Seat]().union(*fixed.values())
    open_ = {component.name: placed.accelerators(component.name) for component in problem.components if component.runs is None}
    beside = [
        len(own_seats) + len(frozenset[Seat]().union(*(seats for g, seats in fixed.items() if g in overlaps and name not in overlaps[g])))
        for name, own_seats in open_.items()
    ]
    exclusive = frozenset[Seat]().union(*(seats for name, seats in fixed.items() if name not in overlaps))
    return max([len(every), len(exclusive | frozenset[Seat]().union(*open_.values())), *beside])


def _few_seats(problem: Problem, placed: Assignment, least: int, used: int) -> Iterator[list[Seat]]:
    """Yield the given and a few nearby accelerators, fewest first."""
    given = problem.build_given()
    every = frozenset[Seat]().union(*(given.accelerators(component.name) for component in problem.components if component.runs is not None))
    open_ = frozenset[Seat]().union(*(placed.accelerators(component.name) for component in problem.components if component.runs is None))
    there = {node for node, _ in every}
    free = [seat for seat in _free(problem) if seat not in every]
    orders = [sorted(free, key=lambda seat: (seat not in open_, seat)), sorted(free, key=lambda seat: (seat[0] not in there, seat))]
    for count in range(least - len(every), used - len(every)):
        for seats in dict.fromkeys(tuple(order[:count]) for order in orders):
            yield sorted((*every, *seats))


def _report_undecided(problem: Problem, used: int, most: int) -> Answer:
    """Return the undecided answer if all found placements exceed the budget."""
    names = join_names([f"`{name}`" for name in problem.job.overlaps])
    message = f"undecided: {used} accelerators are used beside {names}, more than {most}, and none was found over {names}"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=f"write `seconds` of {names}, or allow more"),), how="given")


def place_over_given(problem: Problem, place: Solve) -> Answer:
    """Place beside given components that share their accelerators (`Job.overlaps`).

    All is placed within the usable accelerators, with the given components in place.
    """
    problem = _drop_relations(problem)
    overlaps = sorted(problem.job.overlaps)
    if not overlaps or not problem.hinted:
        return place(problem)
    asked = _restrict_to_seats(problem, _free(problem))
    placed = place(asked)
    if placed.verdict == IMPOSSIBLE:
        rows = [counting_row(alternative) for alternative in asked.alternatives()]
        return _impossible(overlaps, rows[0] if all(rows) else None)
    checked = _solve_as_placed(place, problem, placed)
    return checked if checked.plan is not None else _report_undecided_search(overlaps, checked)


def place_within(place: Solve, problem: Problem, seats: Sequence[Seat]) -> Answer:
    """Place the problem on these accelerators alone, shared given ranks included."""
    reduced = _drop_relations(problem)
    free = frozenset(_free(reduced)).intersection(seats)
    return _solve_as_placed(place, reduced, place(_restrict_to_seats(reduced, sorted(free)))) if free else Answer(UNDECIDED)


def _solve_as_placed(place: Solve, problem: Problem, placed: Answer) -> Answer:
    """Return the answer with all ranks given as placed; the same without a placement."""
    if placed.plan is None:
        return placed
    there = placed.plan.assignment
    components = tuple(part if part.runs is not None else replace(part, runs=there.of(part.name)) for part in problem.components)
    return place(replace(problem, job=replace(problem.job, components=components, overlaps={})))


def _drop_relations(problem: Problem) -> Problem:
    """Return the problem without shared components whose users a relation decides."""
    overlaps = {name: users for name, users in problem.job.overlaps.items() if not _is_related(problem, name)}
    return replace(problem, job=replace(problem.job, overlaps=overlaps))


def _is_related(problem: Problem, name: str) -> bool:
    """Return True if a relation decides the users of its accelerators."""
    return any(name in relation.components for kind in (*TOGETHER, SUBSET) for relation in problem.find_relations(kind))


def _restrict_to_seats(problem: Problem, seats: Sequence[Seat]) -> Problem:
    """Return the problem of a placement within the usable accelerators.

    Components are disjoint from given ones that exclude them; of a given component only its part
    within the usable accelerators counts.
    """
    job, ground, there = problem.job, _holding(seats), frozenset(seats)
    given_seats = {name: problem.build_given().accelerators(name) for name in job.overlaps}
    components = tuple(
        _reduce_to(component, usable & there) if (usable := given_seats.get(component.name, there)) & there != usable else component
        for component in problem.components
    )
    parts = Parts(problem)
    open_ = [part for part in parts.searched if part.kind == ACCELERATOR and not any(host.fixed for host in parts.hosts[part])]
    within = [Relation(SUBSET, (part.components[0].name, GROUND)) for part in open_ if not parts.hosts[part]]
    within += [Relation(SUBSET, (name, GROUND)) for name, held_seats in given_seats.items() if held_seats & there]
    disjoint = [
        Relation(DISJOINT, (component.name, name))
        for part in open_
        for component in part.components
        for name, beside in job.overlaps.items()
        if component.name not in beside
    ]
    relations = (*job.relations, *within, *disjoint)
    return replace(problem, job=replace(job, components=(*components, ground), relations=relations, overlaps={}))


def _reduce_to(given: Component, seats: frozenset[Seat]) -> Component:
    """Return a given component reduced to some of its accelerators; unchanged without any."""
    runs = compress(((rank, [seat]) for rank, seat in enumerate(sorted(seats))), ACCELERATOR)
    bare = Component(given.name, least=len(seats), most=len(seats), runs=runs, phases=given.phases)
    return replace(bare, memory=given.memory, offloaded=given.offloaded, on_sizes=given.on_sizes) if seats else given


def _free(problem: Problem) -> list[Seat]:
    """Return all accelerators open to searched components."""
    given, masks = problem.build_given(), dict[tuple[int, str], int]()
    for component in problem.components:
        if component.runs is not None and component.name not in problem.job.overlaps:
            for place, mask in given.masks(component.name).items():
                masks[place] = masks.get(place, 0) | mask
    return [
        (node.rank, index)
        for node in problem.cluster.nodes
        for index in range(len(node.accelerators))
        if node.free(ACCELERATOR) & ~masks.get((node.rank, ACCELERATOR), 0) >> index & 1
    ]


def _holding(seats: Sequence[Seat]) -> Component:
    """Return the stand-in component on these accelerators."""
    runs = compress(enumerate([seat] for seat in seats), ACCELERATOR)
    return Component(GROUND, least=len(seats), most=len(seats), runs=runs)


def _impossible(names: list[str], row: CountingRow | None = None) -> Answer:
    """Return the infeasible answer; `row` proves it by a sum."""
    listing = ", ".join(f"`{name}`" for name in names)
    why = row.sentence if row is not None and GROUND not in row.sentence else "what may not use theirs has no room, or memory is short"
    message = f"impossible beside {listing} and over it, whose ranks are given: {why}"
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=_advice(listing)),), how="given")


def _report_undecided_search(names: list[str], placed: Answer) -> Answer:
    """Return the undecided answer after an incomplete search."""
    listing = ", ".join(f"`{name}`" for name in names)
    message = f"undecided: no placement was found beside or over the given ranks of {listing}, and not all are searched"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=_advice(listing)), *placed.findings), how="given")


def _advice(listing: str) -> str:
    return f"write `seconds` of {listing}, or move it"
