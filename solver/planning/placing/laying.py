"""Where the dialect itself lays out what was chosen: the answer is what it makes of the sizes, not what a search would."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterable

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ....models.component import Component
from ....models.findings.finding import error
from ....models.placements.assignment import Assignment, Runs
from ....models.placements.plan import OPTIMAL, VERIFIED, Plan
from ....models.problem import Problem
from .ways import Laid, least_first, weighs

Solve = Callable[[Problem], Answer]


def laid_out(place: Solve) -> Solve:
    """How a problem with sizes is placed, given how any problem is: where pools are laid out, one way after the other until one holds.

    Where it is said what traffic costs, that with the least of it comes first, and is proved the best if all ways are known.
    """

    def answer(problem: Problem) -> Answer:
        job, laying = problem.job, problem.job.laying
        if laying is None:
            return place(problem)
        sizes = {component.name: component.least for component in problem.components}
        last: Answer | None = None
        names = ", ".join(f"`{pool.name}`" for pool in laying.pools)
        ways: Iterable[Laid | None] = laying.laid(sizes, problem.cluster)
        ways = least_first(problem, ways) if weighs(problem) else ways
        for runs in ways:
            if runs is None:
                message = f"of the ways to divide {names} into equal parts not all were tried, and none of the others holds"
                return Answer(UNDECIDED, findings=(error("PW602", "", message, help="leave fewer sizes open"),), how="given")
            components = tuple(_at(problem, each, runs[each.name]) if each.name in runs else each for each in problem.components)
            last = place(replace(problem, job=replace(job, components=components, laying=None, accepted={}, choices={})))
            if last.plan is not None:
                return _the_best(last, last.plan) if isinstance(ways, list) and ways[-1] is not None else last
        if last is not None:
            return last
        message = f"the parts of {names} have no room where the framework puts them"
        said = ", ".join(f"`{pool.name}`" for pool in laying.pools if pool.parts)
        help_text = f"leave the size of {said} open" if said else ""
        return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=help_text),), how="given")

    return answer


def _at(problem: Problem, component: Component, runs: Runs) -> Component:
    """The component at these ranks. Where its nodes give it different amounts, no replica lies over several: servers take it that they do not."""
    amounts = {mask.bit_count() for mask in Assignment({component.name: runs}).masks(component.name).values()}
    uneven = len(amounts) > 1 and problem.whole_replica(component) > 1
    return replace(component, runs=runs, server=component.parallel.replica if uneven else component.server)


def _the_best(answer: Answer, plan: Plan) -> Answer:
    """The answer for ranks that hold, and of which no others are better."""
    return replace(answer, verdict=OPTIMAL, plan=replace(plan, status=OPTIMAL)) if plan.status == VERIFIED else answer
