"""Minimal conflict of a planning problem by QuickXplain, with the design search as oracle."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Collection, Sequence

from ...models.answer import IMPOSSIBLE, Answer
from ...models.demand import Demand
from ...models.findings.finding import Finding, error
from ...models.findings.wording import are, with_noun
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import ACCELERATORS, SECONDS, Workload
from ...models.problem import Problem
from ...solver.refuting.certificate import counting_row
from ...solver.refuting.conflict import merged, minimal_with_sharing, with_line
from ...solver.refuting.contradicted import find_contradiction
from ...solver.refuting.impossible import NO_CHANGE, OPEN, SHARING, open_choices_text
from ...solver.refuting.oracle import Verdict
from ...solver.wording import listed
from ..costs import cost_model
from ..problem import planning_problem
from ..search.found import Searched
from ..search.search import search
from .at_sight import infeasible_components
from .changes import EACH, Planner, changes
from .demands import BUDGET_ACCELERATORS, BUDGET_SECONDS, COST_MODEL, demands, in_words, too_small, without

ENOUGH = 64
"""Factor on the accelerators of the cluster that counts as unlimited."""
FEW = 16
"""Maximum number of degree choices for sums."""
Sum = tuple[str, int, int]
"""Shortage: (words, need, have)."""


def why_none(problem: Problem, workload: Workload, question: PlanningProblem, planner: Planner) -> Answer:
    """Return the infeasible answer, with helps that were planned and placed."""
    problem = replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, workload=workload)))
    every, reasons = demands(problem), list[Finding]()
    for finding, blamed in infeasible_components(problem, question):
        helps = changes(planner, problem, blamed, every, question.scope.left_out) if not reasons else []
        reasons.append(replace(finding, help="; or ".join(helps) or NO_CHANGE))
    if not reasons:
        reasons = [find_contradiction(problem) or _conflict(problem, question, planner, every)]
    return Answer(IMPOSSIBLE, findings=tuple(reasons), how="search")


def helps_to_place(problem: Problem, workload: Workload, planner: Planner, left_out: Collection[str], slow: int | None) -> list[str]:
    """Return changes that help if designs exist but none was placed in time."""
    problem = replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, workload=workload)))
    every = demands(problem)
    near = [demand for demand in every if not demand.component or demand.field == "accelerator_model"]
    return changes(planner, problem, near, every, left_out, slow)


def _conflict(problem: Problem, question: PlanningProblem, planner: Planner, every: Sequence[Demand]) -> Finding:
    """Return a minimal conflict, with a sum if possible, and helps."""

    def only(kept: Sequence[Demand]) -> Problem:
        return without(problem, [demand for demand in every if demand not in kept])

    def refuted(kept: Sequence[Demand]) -> bool:
        return planner.judge([only(kept)]) is Verdict.REFUTED

    blamed = minimal_with_sharing(every, [demand for demand in every if demand.field in SHARING], refuted) if refuted(every) else []
    beside = [OPEN] if planner.undecided else []
    budgets = [demand for demand in every if demand.field in (BUDGET_SECONDS, BUDGET_ACCELERATORS)]
    message, need, have, by = _reason(problem, only(blamed) if blamed else problem, blamed or budgets, planner)
    span = next((demand.span for demand in ([by] if by else blamed) if demand.span), (problem.job.planning.workload or Workload()).span)
    notes = [with_line(demand, span) for demand in merged(in_words(only(blamed), blamed)) if by not in demand.demands]
    helps = changes(planner, problem, blamed or every, every, question.scope.left_out, missing=1 if by else max(need - have, 1))
    return error(
        "PW601", "", f"impossible: {message}", span, notes=(*notes, *beside), help="; or ".join(helps) or NO_CHANGE,
        witnesses=(need, have) if need else (), amount=abs(need - have),
    )  # fmt: skip


def _reason(problem: Problem, kept: Problem, blamed: Sequence[Demand], planner: Planner) -> tuple[str, int, int, Demand | None]:
    """Return the shortage, and the demand of the plan behind the limit.

    `kept` : the problem with these demands only.
    """
    workload = problem.job.planning.workload or Workload()
    for demand in (demand for demand in blamed if not demand.component):
        if demand.field == COST_MODEL:
            return "the cost model has a time for no arrangement that satisfies these demands", 0, 0, demand
        by_time, time = demand.field == BUDGET_SECONDS, workload.budget.nanoseconds
        for part in (problem, kept):
            found, held = _least(without(part, [demand]), SECONDS if by_time else ACCELERATORS, planner)
            if found.best is not None:
                have = (time if by_time else workload.budget.accelerators) or 0
                need = max(have + 1, (found.bound or 0) + (0 if by_time else held))
                return too_small(demand.field, need, have, " for that time" if time is not None else ""), need, have, demand
    general = f"no counts and degrees satisfy {'these' if any(demand.component for demand in blamed) else 'all'} demands together", 0, 0
    return *(_of_memory(kept) or _at_once(problem, kept, blamed, planner) or general), None


def _of_memory(kept: Problem) -> Sum | None:
    """Return a sum of memory on common accelerators, for all counts and degrees."""
    job = kept.job
    if (
        job.planning.shapes
        or job.planning.ways
        or job.planning.accepted
        or job.planning.laying is not None
        or any(component.runs is not None for component in kept.components)
    ):
        return None  # what a process takes, or may share, depends on more
    alternatives = list(islice(kept.alternatives(), FEW + 1))
    rows = [counting_row(alternative) for alternative in alternatives[:FEW]]
    if not all(rows) or len(alternatives) > FEW or (row := rows[0]) is None:
        return None
    is_of_one_set = any(set(row.components) <= set(members) for members in kept.colocated_sets)
    return (f"{row}{open_choices_text(alternatives)}", row.need, row.have) if is_of_one_set else None


def _at_once(problem: Problem, kept: Problem, blamed: Sequence[Demand], planner: Planner) -> Sum | None:
    """Return the accelerators needed at the same time on an unlimited cluster."""
    question = planning_problem(problem, problem.job.planning.workload or Workload())
    have = question.accelerators + question.given.held
    for part, names in ((problem, set(question.options)), (kept, {name for demand in blamed for name in demand.component.split("+")})):
        found, held = _least(part, ACCELERATORS, planner, ENOUGH)
        if found.best is not None:
            need = (found.bound or 0) + held
            sets = [([name for name in block.components if name in names], block.accelerators) for block in found.best.design.blocks]
            is_sum = sum(count for members, count in sets if members) + held == need
            detail = f": {', '.join(f'{listed(members)} on {count}' for members, count in sets if members)}" if is_sum else ""
            short = f"at least {with_noun(need, 'accelerator')} {are(need)} needed at the same time, there {are(have)} {have}{detail}"
            return (short, need, have) if need > have else None
    return None


def _least(problem: Problem, aim: str, planner: Planner, times: int = 1) -> tuple[Searched, int]:
    """Search the least time or accelerators on a larger cluster; also return held ones."""
    workload = problem.job.planning.workload or Workload()
    question = planning_problem(problem, workload)
    if times > 1:
        kinds = tuple(replace(kind, accelerators=kind.accelerators * times) for kind in question.kinds)
        question = replace(question, kinds=kinds, areas=())
    found = search(replace(question, aim=aim), cost_model(workload.model), EACH, session=planner.session)
    return found, question.given.held
