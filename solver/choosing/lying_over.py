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
from ..layout.parts import BundleLayout
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
    usage, lower_bound = all_held(problem, answer.plan.assignment), _least(problem, answer.plan.assignment)
    enough = max(lower_bound, budget or 0) if by_time else lower_bound
    if usage > enough and not (by_time and budget is None):
        for seats in islice(_few_seats(problem, answer.plan.assignment, lower_bound, usage), MOST):
            over = place_within(place, problem, seats)
            if over.plan is not None and (now := all_held(problem, over.plan.assignment)) < usage:
                answer, usage = over, now
                if usage <= enough:
                    break
    return answer if budget is None or usage <= budget else _report_undecided(problem, usage, budget)


def all_held(problem: Problem, assignment: Assignment) -> int:
    """Return the number of accelerators held by all components."""
    return len(frozenset[Seat]().union(*(assignment.accelerators(component.name) for component in problem.components)))


def _least(problem: Problem, assignment: Assignment) -> int:
    """Return a lower bound of the accelerators held with these counts."""
    ranks, overlaps = problem.build_given(), problem.job.overlaps
    seats_of = {component.name: ranks.accelerators(component.name) for component in problem.components if component.runs is not None}
    every = frozenset[Seat]().union(*seats_of.values())
    open_ = {component.name: assignment.accelerators(component.name) for component in problem.components if component.runs is None}
    lower_bounds = [
        len(own_seats)
        + len(frozenset[Seat]().union(*(seats for g, seats in seats_of.items() if g in overlaps and name not in overlaps[g])))
        for name, own_seats in open_.items()
    ]
    exclusive = frozenset[Seat]().union(*(seats for name, seats in seats_of.items() if name not in overlaps))
    return max([len(every), len(exclusive | frozenset[Seat]().union(*open_.values())), *lower_bounds])


def _few_seats(problem: Problem, assignment: Assignment, lower_bound: int, usage: int) -> Iterator[list[Seat]]:
    """Yield the given and a few nearby accelerators, fewest first."""
    ranks = problem.build_given()
    every = frozenset[Seat]().union(*(ranks.accelerators(component.name) for component in problem.components if component.runs is not None))
    open_ = frozenset[Seat]().union(
        *(assignment.accelerators(component.name) for component in problem.components if component.runs is None)
    )
    fixed_nodes = {node for node, _ in every}
    free = [seat for seat in _free(problem) if seat not in every]
    orders = [sorted(free, key=lambda seat: (seat not in open_, seat)), sorted(free, key=lambda seat: (seat[0] not in fixed_nodes, seat))]
    for count in range(lower_bound - len(every), usage - len(every)):
        for seats in dict.fromkeys(tuple(order[:count]) for order in orders):
            yield sorted((*every, *seats))


def _report_undecided(problem: Problem, usage: int, most: int) -> Answer:
    """Return the undecided answer if all found placements exceed the budget."""
    names = join_names([f"`{name}`" for name in problem.job.overlaps])
    message = f"undecided: {usage} accelerators are used beside {names}, more than {most}, and none was found over {names}"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=f"write `seconds` of {names}, or allow more"),), how="given")


def place_over_given(problem: Problem, place: Solve) -> Answer:
    """Place beside given components that share their accelerators (`Job.overlaps`).

    All is placed within the usable accelerators, with the given components in place.
    """
    problem = _drop_relations(problem)
    overlaps = sorted(problem.job.overlaps)
    if not overlaps or not problem.hinted:
        return place(problem)
    restriction = _restrict_to_seats(problem, _free(problem))
    placement = place(restriction)
    if placement.verdict == IMPOSSIBLE:
        rows = [counting_row(alternative) for alternative in restriction.alternatives()]
        return _impossible(overlaps, rows[0] if all(rows) else None)
    answer = _solve_as_placed(place, problem, placement)
    return answer if answer.plan is not None else _report_undecided_search(overlaps, answer)


def place_within(place: Solve, problem: Problem, seats: Sequence[Seat]) -> Answer:
    """Place the problem on these accelerators alone, shared given ranks included."""
    base_problem = _drop_relations(problem)
    free = frozenset(_free(base_problem)).intersection(seats)
    return _solve_as_placed(place, base_problem, place(_restrict_to_seats(base_problem, sorted(free)))) if free else Answer(UNDECIDED)


def _solve_as_placed(place: Solve, problem: Problem, answer: Answer) -> Answer:
    """Return the answer with all ranks given as placed; the same without a placement."""
    if answer.plan is None:
        return answer
    assignment = answer.plan.assignment
    problem = problem.with_fields({component.name: {"runs": assignment.of(component.name)} for component in problem.hinted})
    return place(replace(problem, job=replace(problem.job, overlaps={})))


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
    job, ground, scope = problem.job, _holding(seats), frozenset(seats)
    given_seats = {name: problem.build_given().accelerators(name) for name in job.overlaps}
    components = tuple(
        _reduce_to(component, usable & scope) if (usable := given_seats.get(component.name, scope)) & scope != usable else component
        for component in problem.components
    )
    parts = BundleLayout(problem)
    open_ = [bundle for bundle in parts.searched if bundle.kind == ACCELERATOR and not any(host.fixed for host in parts.hosts[bundle])]
    within = [Relation(SUBSET, (bundle.components[0].name, GROUND)) for bundle in open_ if not parts.hosts[bundle]]
    within += [Relation(SUBSET, (name, GROUND)) for name, held_seats in given_seats.items() if held_seats & scope]
    disjoint = [
        Relation(DISJOINT, (component.name, name))
        for bundle in open_
        for component in bundle.components
        for name, partners in job.overlaps.items()
        if component.name not in partners
    ]
    relations = (*job.relations, *within, *disjoint)
    return replace(problem, job=replace(job, components=(*components, ground), relations=relations, overlaps={}))


def _reduce_to(component: Component, seats: frozenset[Seat]) -> Component:
    """Return a given component reduced to some of its accelerators; unchanged without any."""
    runs = compress(((rank, [seat]) for rank, seat in enumerate(sorted(seats))), ACCELERATOR)
    bare = Component(component.name, least=len(seats), most=len(seats), runs=runs, phases=component.phases)
    return replace(bare, memory=component.memory, offloaded=component.offloaded, on_sizes=component.on_sizes) if seats else component


def _free(problem: Problem) -> list[Seat]:
    """Return all accelerators open to searched components."""
    fixed_ranks, masks = problem.build_given(), dict[tuple[int, str], int]()
    for component in problem.components:
        if component.runs is not None and component.name not in problem.job.overlaps:
            for place, mask in fixed_ranks.masks(component.name).items():
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
    reason = row.sentence if row is not None and GROUND not in row.sentence else "what may not use theirs has no room, or memory is short"
    message = f"impossible beside {listing} and over it, whose ranks are given: {reason}"
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=_advice(listing)),), how="given")


def _report_undecided_search(names: list[str], answer: Answer) -> Answer:
    """Return the undecided answer after an incomplete search."""
    listing = ", ".join(f"`{name}`" for name in names)
    message = f"undecided: no placement was found beside or over the given ranks of {listing}, and not all are searched"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=_advice(listing)), *answer.findings), how="given")


def _advice(listing: str) -> str:
    return f"write `seconds` of {listing}, or move it"
