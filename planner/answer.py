"""How any problem is answered: what has times is planned first, everything else is placed as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Sequence

from ..models.answer import Answer, Solve
from ..models.component import SUBSET
from ..models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED, Plan
from ..models.problem import Problem
from ..solver.in_turn import dealt_out
from ..solver.sandbox.interrupts import held
from ..solver.sandbox.keeping import kept
from .counting import OnCounting, silent
from .recent import remembering
from .refusing import Refuses, nobody

if TYPE_CHECKING:
    from ..models.findings.finding import Finding
    from ..models.planning.design import Design
    from ..models.planning.workload import Workload
    from .search.settle import Settle


def answering(
    place: Solve, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = True, counting: OnCounting = silent,
    refuses: Refuses = nobody,
) -> Solve:  # fmt: skip
    """How problems are answered, given how they are placed; the options are those of the search for counts (see searching/search.py).

    With `answer_interrupted` the first Ctrl-C ends all searches for the answer, which is then what was found until it came. What is
    planned by time and `refuses` says something of is the answer only where nothing else is found, and nothing is proved of it.
    """
    around_any = _around(place)

    def answer(problem: Problem, place: Solve = around_any) -> Answer:
        from .policies import dividing

        workload = problem.job.workload
        if workload is None or all(each.runs is not None for each in problem.components if each.timed):
            if workload is None or not workload.bandwidth:
                return dividing(place)(problem)
            return dividing(partial(_with_traffic, workload=workload, place=place))(problem)
        from .overlapping import around_overlapping

        if (around := around_overlapping(answer, place, problem, limit, seed)) is not None:
            return around

        from .others import with_further
        from .placing.laying import laid_out
        from .placing.lying_over import lying_over
        from .plan import plan
        from .policies import nesting, preferring, unless_all_sizes_are_read
        from .tied import tied
        from .untimed import going_along

        def refused(placed: Plan, design: Design) -> Sequence[Finding]:
            return refuses(problem, _with_degrees(placed, design, problem))

        # Where nobody reads a file again, none but ways that are right whatever it says are taken.
        laid = laid_out(place) if refuses is nobody else laid_out(place, partial(_refused, refuses, problem))

        def plans(asked: Problem) -> Answer:
            its = asked.job.workload or workload
            return plan(asked, its, lying_over(laid, its), limit, seed, settle, answer_interrupted, counting, refused)

        chosen = tied(nesting(plans, refused), limit, seed, answer_interrupted)
        chosen = with_further(chosen, partial(lying_over, laid), refused, limit, seed, answer_interrupted)
        found = preferring(problem, dividing(unless_all_sizes_are_read(going_along(chosen))), limit, seed)
        if found.plan is not None and found.planned is not None:
            found = replace(found, plan=_with_degrees(found.plan, found.planned.best.design, problem))
        return _as_proved(found)

    def by_one_process(problem: Problem) -> Answer:
        with kept(), remembering():
            return dealt_out(answer)(problem)

    def unless_interrupted(problem: Problem) -> Answer:
        with held():
            return by_one_process(problem)

    return unless_interrupted if answer_interrupted else by_one_process


def _around(place: Solve) -> Solve:
    """How problems are placed, those too in which given ranks lie inside of what is open, or pins turn the order of ranks."""

    def placed(problem: Problem) -> Answer:
        way = place
        if problem.related(SUBSET):
            from .placing.around import around_given

            way = around_given(way)
        if problem.job.in_step:
            from .placing.one_order import with_one_order

            way = with_one_order(way)
        return way(problem)

    return placed


def _refused(refuses: Refuses, problem: Problem, laid: Problem, plan: Plan) -> Sequence[Finding]:
    """Why the framework does not take the file with a placement of what is asked of one design, whose degrees are decided."""
    chosen = {name: laid[name].parallel for name in _left_open(problem) if name in plan.assignment.runs}
    return refuses(problem, replace(plan, degrees={**plan.degrees, **chosen}))


def _with_traffic(problem: Problem, workload: Workload, place: Solve) -> Answer:
    """The answer for counts that were chosen where traffic counted as time: placed by the same objective."""
    from .traffic import Traffic

    traffic = Traffic(problem, workload)
    answer = place(traffic.asked(problem))
    return answer if answer.plan is None else replace(answer, plan=traffic.answered(answer.plan))


def _with_degrees(plan: Plan, design: Design, problem: Problem) -> Plan:
    """The plan names the degrees that were chosen where a choice was left."""
    from ..models.planning.idle import Idle

    idle = design.not_started(Idle(problem.job.ways)) & problem.job.tied.keys()  # which have the degrees of others
    chosen = {name: design.options[name].parallel for name in _left_open(problem) if name in design.options and name not in idle}
    return replace(plan, degrees={**plan.degrees, **chosen}) if chosen else plan


def _left_open(problem: Problem) -> list[str]:
    """The components whose degrees a choice decides."""
    job = problem.job
    moved = {name for each in job.followed for name, its in each.changes.items() if its.parallel is not None}
    tied = [name for name, leader in job.tied.items() if leader in job.choices and (name in moved or not job.followed)]
    return [*job.choices, *tied]


def _as_proved(answer: Answer) -> Answer:
    """A plan is no better proved than its counts are; where these are, and only one placement of them may be had, that is the best."""
    if answer.plan is None or answer.planned is None:
        return answer
    status = FEASIBLE if not answer.planned.proved else OPTIMAL if answer.plan.status == VERIFIED else answer.plan.status
    return replace(answer, verdict=status, plan=replace(answer.plan, status=status))
