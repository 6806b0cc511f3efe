"""Pools that a framework lays out by itself from their sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve, Validator, accept_all
from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.job import WEIGHTED
from ...models.placements.assignment import Assignment
from ...models.placements.plan import OPTIMAL, VERIFIED, Plan
from ...models.placements.run import Run, Runs
from ...models.problem import Problem
from ..objectives import OBJECTIVES
from ..objectives.traffic import BytesAcross

MOST_REFUSED = 32
"""Maximum number of refused layouts; further ones stay unknown."""
PoolRuns = Mapping[str, Runs]


def place_in_pools(problem: Problem, place: Solve, refuses: Validator = accept_all) -> Answer:
    """Place in the framework's layouts of its pools, the first that holds.

    A layout that `refuses` rejects does not count: other parts of the same size may be accepted. If traffic has
    a cost, layouts come by least traffic, and the first is proved optimal if all are known.
    """
    laying = problem.job.planning.laying
    if laying is None:
        return place(problem)
    sizes = {component.name: component.least for component in problem.components}
    last: Answer | None = None
    refusals = list[Finding]()
    names = ", ".join(f"`{pool.name}`" for pool in laying.pools)
    layouts: Iterable[PoolRuns | None] = laying.lay_out(sizes, problem.cluster)
    layouts = sort_by_traffic(problem, layouts) if weighs(problem) else layouts
    for runs in layouts:
        if runs is None:
            message = f"undecided: not all divisions of {names} into equal parts were tried, and no tried one holds"
            return Answer(UNDECIDED, findings=(error("PW602", "", message, help="leave fewer sizes open"),), how="given")
        answer = place(_with_ranks(problem, runs, True))
        if answer.verdict == IMPOSSIBLE and any(_is_over_nodes(problem, component, runs) for component in problem.components):
            # Parts that are small enough tear no server: reading the file tells, and where nobody reads it nobody knows.
            split = place(_with_ranks(problem, runs, False))
            answer = split if refuses is not accept_all or split.plan is None else _unread(names)
        last = answer if last is None or last.verdict == IMPOSSIBLE else last  # what is undecided of one way is so of all
        if answer.plan is None:
            continue
        findings = refuses(problem, answer.plan)
        if not findings:
            return _the_best(answer, answer.plan) if isinstance(layouts, list) and layouts[-1] is not None else answer
        refusals += findings
        last = _refuse(names, refusals[0]) if last is answer else last
        if len(refusals) >= MOST_REFUSED:
            return replace(last, verdict=UNDECIDED)
    if last is not None:
        return last
    message = f"the parts of {names} do not fit on the nodes where the framework puts them"
    pool_names = ", ".join(f"`{pool.name}`" for pool in laying.pools if pool.parts)
    help_text = f"leave the size of {pool_names} open" if pool_names else ""
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=help_text),), how="given")


def _refuse(names: str, first: Finding) -> Answer:
    """Return the infeasible answer for layouts that all were refused."""
    message = f"the framework refuses {names} of this size in any layout: {first.message} ({first.code})"
    return Answer(IMPOSSIBLE, findings=(error("PW601", first.subject, message, help="give other counts"),), how="given")


def _with_ranks(problem: Problem, runs: PoolRuns, whole: bool) -> Problem:
    """Return the problem with components at these ranks.

    `whole`: a component with unequal amounts per node has no replica over nodes, as servers of
    whole replicas demand. Else no server is divided, as with a server per accelerator.
    """

    def server(component: Component) -> int:
        if not whole:
            return 1 if _is_over_nodes(problem, component, runs) else component.server
        is_torn = len(set(_amounts(component, runs))) > 1 and problem.whole_replica(component) > 1
        return component.parallel.replica if is_torn else component.server

    components = tuple(
        replace(member, runs=runs[member.name], server=server(member)) if member.name in runs else member for member in problem.components
    )
    return with_ranks(problem, components)


def with_ranks(problem: Problem, components: tuple[Component, ...]) -> Problem:
    """Return the problem with these components, in which nothing is left to the dialect."""
    planning = replace(problem.job.planning, laying=None, accepted={})
    return replace(problem, job=replace(problem.job, components=components, choices={}, planning=planning))


def _is_over_nodes(problem: Problem, component: Component, runs: PoolRuns) -> bool:
    """Return True if a replica of the component lies over several nodes."""
    return any(amount % problem.whole_replica(component) for amount in _amounts(component, runs))


def _amounts(component: Component, runs: PoolRuns) -> list[int]:
    """Return the accelerators of a component on each of its nodes."""
    masks = Assignment({component.name: runs.get(component.name, ())}).masks(component.name)
    return [mask.bit_count() for mask in masks.values()]


def _unread(names: str) -> Answer:
    """Return the undecided answer if only small parts hold, and their size is unknown."""
    message = f"undecided: replicas would span nodes, which depends on the parts that {names} are written in"
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help="give the file itself"),), how="given")


def _the_best(answer: Answer, plan: Plan) -> Answer:
    """Return the answer as optimal."""
    return replace(answer, verdict=OPTIMAL, plan=replace(plan, status=OPTIMAL)) if plan.status == VERIFIED else answer


def weighs(problem: Problem) -> bool:
    """Return True if traffic has a cost."""
    return problem.job.preference.order == WEIGHTED


def sort_by_traffic(problem: Problem, layouts: Iterable[PoolRuns | None]) -> list[PoolRuns | None]:
    """Return the layouts by their traffic; None for unknown ones at the end."""
    every = list(layouts)
    options = [layout for layout in every if layout is not None]
    return [*sorted(options, key=lambda layout: crosses(problem, layout)), *([None] if len(options) < len(every) else [])]


def crosses(problem: Problem, layout: Mapping[str, Sequence[Run]]) -> int:
    """Return a lower bound of the traffic between laid out and given components."""
    weights = problem.job.preference.weights
    assignment = Assignment(
        {component.name: runs for component in problem.components if (runs := layout.get(component.name) or component.runs)}
    )
    components = tuple(component for component in problem.components if assignment.of(component.name))
    subproblem = replace(problem, job=replace(problem.job, components=components))
    terms = (term for term in OBJECTIVES if isinstance(term, BytesAcross) and weights.get(term.level, 1))
    return sum(weights.get(term.level, 1) * term.value(subproblem, assignment) for term in terms)
