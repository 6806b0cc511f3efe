"""Why a question has no plan: the fewest demands that cannot hold together, by QuickXplain with the search for designs as oracle."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Callable, Collection, Iterator, Sequence

from ...models.answer import IMPOSSIBLE, Answer
from ...models.component import UNBOUNDED
from ...models.demand import Clause, Demand
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.findings.wording import are, with_noun
from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import ACCELERATORS, RLINF, RLINF_EMBODIED, SECONDS, Workload
from ...models.problem import AMOUNT, Problem
from ...models.quantity import write_memory
from ...models.record import dataclass
from ...solver.durations import exactly_in_seconds, in_seconds, with_unit
from ...solver.refuting.certificate import counting_row
from ...solver.refuting.clauses import clauses, merged, with_line
from ...solver.refuting.contradicted import contradicted
from ...solver.refuting.find import OPEN, SHARING, by_blame
from ...solver.refuting.impossible import NO_CHANGE, anyhow
from ...solver.refuting.oracle import Verdict
from ...solver.refuting.quickxplain import to_blame
from ...solver.wording import listed
from ..costs import cost_model
from ..problem import asked
from ..search.search import Searched, search
from .changes import (
    BUDGET_ACCELERATORS,
    BUDGET_SECONDS,
    COST_MODEL,
    EACH,
    Planner,
    changes,
    relaxed,
)
from .component import COUNTS, holds_for, of_times, unfit

ENOUGH = 64
"""So many times the accelerators that there are."""
ALTERNATIVES = 16
"""Choices of degrees of which sums are made, at most."""
MOST_SETS = 6
"""Sets of components that are named in a message, at most."""


@dataclass(frozen=True)
class Reason:
    """What is short, with (need, have); `by`: the demand that says what there is, `where`: its place."""

    message: str
    figures: tuple[int, int] | None = None
    by: str = ""
    where: Span | None = None


def why_none(problem: Problem, workload: Workload, question: Question, planner: Planner) -> Answer:
    """The answer to a question for which a search proved that it has no design; each of its helps was planned and placed."""
    problem = replace(problem, job=replace(problem.job, workload=workload))
    every = demands(problem)
    reasons: list[Finding] = []
    for each in unfit(problem, question):
        helps = (
            changes(planner, problem, each.demands, every, question.left_out) if not reasons else []
        )
        reasons.append(replace(each.finding, help="; or ".join(helps) or NO_CHANGE))
    if not reasons:
        reasons = [contradicted(problem) or _conflict(problem, question, planner, every)]
    return Answer(IMPOSSIBLE, findings=tuple(reasons), how="search")


def helps_to_place(
    problem: Problem,
    workload: Workload,
    planner: Planner,
    left_out: Collection[str],
    slow: int | None,
) -> list[str]:
    """Changes that help where counts and degrees fit together, and none of them was placed but one that takes `slow` ns, too long."""
    problem = replace(problem, job=replace(problem.job, workload=workload))
    every = demands(problem)
    near = [each for each in every if not each.component or each.field == "accelerator_model"]
    return changes(planner, problem, near, every, left_out, slow=slow)


def demands(problem: Problem) -> list[Demand]:
    """All demands of the plan and of its components, those that the user can change first."""
    workload, job = problem.job.workload or Workload(), problem.job
    plan = [
        (BUDGET_SECONDS, workload.budget.nanoseconds is not None),
        (BUDGET_ACCELERATORS, workload.budget.accelerators is not None),
        (COST_MODEL, workload.model in (RLINF, RLINF_EMBODIED)),
    ]
    of_plan = [Demand("", field, workload.place(field)) for field, is_said in plan if is_said]
    degrees = [
        Demand(name, "parallel", problem[name].span("parallel"))
        for name in job.choices
        if problem[name].runs is None
    ]
    counts = [
        each for component in problem.hinted for each in of_times(component) if each.field == COUNTS
    ]
    parts = [
        each
        for each in dict.fromkeys([*by_blame([problem]), *degrees, *counts])
        if not (each.field == "parallel" and each.component in job.shapes)
    ]
    return [
        *of_plan,
        *(each for each in parts if each.field != AMOUNT or _is_limited(problem, each.component)),
    ]


def _is_limited(problem: Problem, name: str) -> bool:
    return problem[name].least > 1 or problem[name].most < UNBOUNDED or bool(problem[name].counts)


def _conflict(
    problem: Problem, question: Question, planner: Planner, every: Sequence[Demand]
) -> Finding:
    """The fewest demands that cannot hold together, with a sum if there is one, and what helps."""

    def refuted(kept: Sequence[Demand]) -> bool:
        return planner.judge([_only(problem, every, kept)]) is Verdict.REFUTED

    sharing = [each for each in every if each.field in SHARING]
    blamed = to_blame(every, sharing, refuted) if refuted(every) else []
    minimal = not planner.undecided
    reason = _reason(problem, _only(problem, every, blamed), blamed, planner.seed)
    missing = (
        max(reason.figures[0] - reason.figures[1], 1) if reason.figures and not reason.by else 1
    )
    helps = changes(planner, problem, blamed or every, every, question.left_out, missing)
    span = reason.where or next(
        (each.span for each in blamed if each.span), (problem.job.workload or Workload()).span
    )
    notes = [
        with_line(each, span)
        for each in merged([*_clauses(problem, every, blamed)])
        if all(demand.field != reason.by for demand in each.demands)
    ]
    need, have = reason.figures or (0, 0)
    return error(
        "PW601", "", f"impossible: {reason.message}", span, notes=(*notes, *([] if minimal else [OPEN])), help="; or ".join(helps) or NO_CHANGE,
        witnesses=reason.figures or (), amount=abs(need - have),
    )  # fmt: skip


def _only(problem: Problem, every: Sequence[Demand], kept: Sequence[Demand]) -> Problem:
    return relaxed(problem, [each for each in every if each not in kept])


def _clauses(problem: Problem, every: Sequence[Demand], kept: Sequence[Demand]) -> Iterator[Clause]:
    """The demands in words, each with what the cluster has."""
    workload = problem.job.workload or Workload()
    for demand in kept:
        if demand.field == BUDGET_SECONDS:
            yield Clause(
                f"{with_unit(exactly_in_seconds(workload.budget.nanoseconds or 0))} an iteration are allowed",
                (demand,),
            )
        elif demand.field == BUDGET_ACCELERATORS:
            yield Clause(
                f"{with_noun(workload.budget.accelerators or 0, 'accelerator')} may be used",
                (demand,),
            )
        elif demand.field == COST_MODEL:
            yield Clause(
                f"the cost model `{workload.model}` has a time for some arrangements alone",
                (demand,),
            )
        elif demand.field == "memory":
            need, have = (
                problem[demand.component].memory,
                max((node.accelerator_memory or 0 for node in problem.cluster.nodes), default=0),
            )
            yield Clause(
                f"{demand.component} needs {write_memory(need)} on each accelerator (the largest has {write_memory(have)})",
                (demand,),
            )
        elif demand.field == "parallel":
            choices = problem.job.choices.get(
                demand.component, (problem[demand.component].parallel,)
            )
            yield Clause(
                f"{demand.component} has {' or '.join(map(str, dict.fromkeys(choices)))}", (demand,)
            )
        elif demand.field == COUNTS and (timed := problem[demand.component].timed):
            yield Clause(f"{demand.component}: its {holds_for(timed)}", (demand,))
    own = [
        each for each in kept if each.component and each.field not in ("memory", "parallel", COUNTS)
    ]
    yield from clauses(problem.without(*(each for each in every if each not in kept)), own)


def _reason(problem: Problem, kept: Problem, blamed: Sequence[Demand], seed: int) -> Reason:
    """What is short in a conflict: time, accelerators that may be used, or a sum; `kept`: the problem with its demands alone."""
    budgets = {each.field: each for each in blamed if not each.component}
    for field, of_budget in (
        (BUDGET_SECONDS, _of_seconds),
        (BUDGET_ACCELERATORS, _of_accelerators),
    ):
        if field in budgets and (reason := of_budget(problem, kept, budgets[field], seed)):
            return reason
    if COST_MODEL in budgets:
        told = "the cost model has a time for no arrangement that satisfies these demands"
        return Reason(told, by=COST_MODEL, where=budgets[COST_MODEL].span)
    together = "these demands" if blamed else "all demands"
    return (
        _of_sum(kept)
        or _of_sets(problem, kept, blamed, seed)
        or Reason(f"no counts and degrees satisfy {together} together")
    )


def _of_seconds(problem: Problem, kept: Problem, demand: Demand, seed: int) -> Reason | None:
    most = (problem.job.workload or Workload()).budget.nanoseconds or 0
    if (found := _least([problem, kept], demand, SECONDS, seed)) is None:
        return None
    need = max(most + 1, found.bound or 0)
    allowed = exactly_in_seconds(most)
    told = f"an iteration takes at least {with_unit(in_seconds(need))}, {allowed} {are(allowed)} allowed"
    return Reason(told, (need, most), demand.field, demand.span)


def _of_accelerators(problem: Problem, kept: Problem, demand: Demand, seed: int) -> Reason | None:
    workload = problem.job.workload or Workload()
    most, held = workload.budget.accelerators or 0, asked(problem, workload).held
    if (found := _least([problem, kept], demand, ACCELERATORS, seed)) is None:
        return None
    need = max(most + 1, (found.bound or 0) + held)
    within = " for that time" if workload.budget.nanoseconds is not None else ""
    told = (
        f"at least {with_noun(need, 'accelerator')} {are(need)} needed{within}, {most} may be used"
    )
    return Reason(told, (need, most), demand.field, demand.span)


def _of_sum(kept: Problem) -> Reason | None:
    """A sum for components on the same accelerators that a person can check, whatever the counts and degrees are."""
    job = kept.job
    if (
        job.shapes
        or job.ways
        or job.accepted
        or job.laying is not None
        or any(each.runs is not None for each in kept.components)
    ):
        return None  # what a process takes, or may share, depends on more
    alternatives = list(islice(kept.alternatives(), ALTERNATIVES + 1))
    rows = [counting_row(each) for each in alternatives[:ALTERNATIVES]]
    first = rows[0]
    if first is None or len(alternatives) > ALTERNATIVES or not all(rows):
        return None
    if not any(set(first.components) <= set(members) for members in kept.colocated_sets):
        return None  # others may share too
    return Reason(f"{first}{anyhow(alternatives)}", (first.need, first.have), where=first.span)


def _of_sets(problem: Problem, kept: Problem, blamed: Sequence[Demand], seed: int) -> Reason | None:
    """How many accelerators are needed at the same time, if there were as many as anybody wants."""

    def ample(question: Question) -> Question:
        return replace(
            question,
            kinds=tuple(
                replace(kind, accelerators=kind.accelerators * ENOUGH) for kind in question.kinds
            ),
            areas=(),
        )

    question = asked(problem, problem.job.workload or Workload())
    have = question.accelerators + question.held
    for part, names in (
        (problem, set(question.options)),
        (kept, {name for each in blamed for name in each.component.split("+")}),
    ):
        found = _least([part], None, ACCELERATORS, seed, ample)
        if found is not None and found.best is not None:
            least = (found.bound or 0) + question.held
            told = f"at least {with_noun(least, 'accelerator')} {are(least)} needed at the same time, there {are(have)} {have}"
            sets = [
                ([name for name in each.components if name in names], each.accelerators)
                for each in found.best.design.blocks
            ]
            is_sum = sum(count for its, count in sets if its) == least and len(sets) <= MOST_SETS
            text = ", ".join(f"{listed(its)} on {count}" for its, count in sets if its)
            where = _largest(problem, found.best.design)
            return (
                Reason(f"{told}: {text}" if is_sum else told, (least, have), where=where)
                if least > have
                else None
            )
    return None


def _least(
    problems: Sequence[Problem],
    given_up: Demand | None,
    aim: str,
    seed: int,
    change: Callable[[Question], Question] = lambda its: its,
) -> Searched | None:
    """The search for the least time or the fewest accelerators of the first of these problems that has a design without a demand."""
    for problem in problems:
        free = relaxed(problem, [given_up] if given_up else [])
        workload = free.job.workload or Workload()
        found = search(
            replace(change(asked(free, workload)), aim=aim), cost_model(workload.model), EACH, seed
        )
        if found.best is not None:
            return found
    return None


def _largest(problem: Problem, design: Design) -> Span | None:
    """Where the component says how many accelerators it wants that has the most of all."""
    most = max(
        design.options,
        key=lambda name: sum(design.blocks[place].accelerators for place in design.blocks_of(name)),
    )
    return problem[most].span(AMOUNT)
