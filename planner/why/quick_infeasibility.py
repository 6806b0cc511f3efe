"""Infeasible counts proved by arithmetic or a short search.

A longer search may find further reasons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.answer import IMPOSSIBLE, Answer
from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.option import AcceleratorKind, Option
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import ACCELERATORS, SECONDS, Budget, Workload
from ...models.problem import AMOUNT, Demand, Problem
from ...solver.refuting.conflict import merge_clauses, quickxplain, with_line
from ...solver.wording import few, join_names, round_seconds
from ..capacity import free_capacity
from ..costs import cost_model
from ..problem import planning_problem
from ..profile import options
from ..related import overlaps
from ..scope import may_span
from ..unplaced import undecided
from .demands import BUDGET_ACCELERATORS, BUDGET_SECONDS, RANKS, TIMES, demands, describe_demands, model_name, too_small, without

SHORT = 0.02
"""Deterministic seconds of a search for a budget."""
MOST = 10_000
"""Maximum number of options for quick reasons, a few hundredths of a second."""


def of_times(problem: Problem) -> Iterator[Finding]:
    """Yield quick reasons: a component without options, or a budget too small."""
    job, parts_with_times = problem.job, [component for component in problem.components if component.timed]
    if job.planning.laying is not None or job.overlaps or may_span(problem) or overlaps(problem, parts_with_times):
        return
    if problem.cluster.total() * sum(len(job.choices.get(component.name, (component.parallel,))) for component in problem.hinted) > MOST:
        return
    problem = problem.with_workload(replace(problem.workload, heeds_estimates=False))  # an estimate makes nothing impossible
    question = planning_problem(problem)
    if (answer := answer_undecided(problem, question)) is not None:
        yield from answer.findings if answer.verdict == IMPOSSIBLE else ()
        return
    yield from [finding for finding, _ in infeasible_components(problem, question)] or _exceed_budget(problem.workload, question)


def infeasible_components(problem: Problem, question: PlanningProblem) -> Iterator[tuple[Finding, list[Demand]]]:
    """Yield components without feasible options, with the fewest demands to blame."""
    holding = [component for component in problem.components if component.name not in question.options]
    for name, candidates in question.options.items():
        idle = name in question.idle.beside
        if _fits(candidates, question.kinds, idle):
            continue
        every = [demand for demand in demands(problem) if demand.component == name]
        every += [Demand(name, TIMES, problem[name].span(TIMES))] if problem[name].timed else []
        every += [Demand(component.name, RANKS, component.span("placement")) for component in holding]

        def is_refuted(subset: Sequence[Demand], name: str = name, every: Sequence[Demand] = every, idle: bool = idle) -> bool:
            options_left, kinds = _options(without(problem, [demand for demand in every if demand not in subset]), name, holding)
            return not _fits(options_left, kinds, idle)

        blame = quickxplain(every, is_refuted) if is_refuted(every) else []
        span = next((demand.span for demand in blame if demand.span), problem[name].span(AMOUNT))
        free = [option for demand in blame if demand.field == AMOUNT for option in _options(without(problem, [demand]), name, holding)[0]]
        why = list(merge_clauses(describe_demands(problem, blame)))
        elsewhere = [any(demand.span and span and demand.span.line != span.line for demand in clause.demands) for clause in why]
        notes = [with_line(clause, span) for clause, far in zip(why, elsewhere) if far]
        message = "with all of its demands"
        if len(why) < 2:
            message = next((clause.text for clause in why), "no count and no degrees of it suit the cluster and its framework")
        else:
            notes = [with_line(clause, span) if far else clause.text for clause, far in zip(why, elsewhere)]
        notes += [f"{name} can have {few(sorted({option.amount for option in free}))}"] if free else []
        separator = ":" if len(why) < 2 else ""
        yield error("PW601", name, f"impossible: no plan can run `{name}`{separator} {message}", span, notes=tuple(notes)), blame


def _options(problem: Problem, name: str, holding: Sequence[Component]) -> tuple[tuple[Option, ...], Sequence[AcceleratorKind]]:
    """Return the options of a component and its kinds, beside given ranks."""
    names = {component.name for component in problem.components}
    space = free_capacity(problem, [component for component in holding if component.name in names])
    return options(problem, problem[name], problem[name].timed, space, 1), space.kinds


def _fits(options: Sequence[Option], kinds: Sequence[AcceleratorKind], idle: bool) -> bool:
    """Return True if an option fits alone by declared memory."""
    limits = [kinds[option.kind].memory if option.kind >= 0 else None for option in options]
    return any(idle or limit is None or option.memory <= limit or option.estimated for option, limit in zip(options, limits))


def _exceed_budget(workload: Workload, question: PlanningProblem) -> Iterator[Finding]:
    """Yield the first budget that a lower bound of a short search exceeds."""
    budget, model = question.budget, cost_model(workload.model)
    if budget == Budget():
        return
    from ..search.search import search  # for budgets alone

    by_count = BUDGET_ACCELERATORS, budget.accelerators, replace(question, aim=ACCELERATORS, budget=Budget())
    by_time = BUDGET_SECONDS, budget.nanoseconds, replace(question, aim=SECONDS, budget=Budget(budget.accelerators))
    for field, most, relaxation in (by_count, by_time):
        bound = search(relaxation, model, SHORT).bound if most is not None else None
        if most is not None and bound is not None and bound > most:
            held = question.given.held if field == BUDGET_ACCELERATORS else 0
            allow = f"accelerators: {bound + held}" if field == BUDGET_ACCELERATORS else f"seconds: {round_seconds(bound)}"
            figures, span = (bound + held, most + held), workload.place(field)
            yield error("PW601", "", f"impossible: {too_small(field, *figures)}", span, help=f"allow at least `{allow}`", witnesses=figures)
            return


def answer_undecided(problem: Problem, question: PlanningProblem) -> Answer | None:
    """Return the undecided answer for given ranks on several kinds, which are out of scope."""
    for component in problem.components if len(question.kinds) > 1 else ():
        if component.runs is not None and component.name in question.options and problem.kind(component) == ACCELERATOR:
            nodes = [problem.cluster.nodes[node] for node, _ in problem.build_given().masks(component.name)]
            models = dict.fromkeys(model_name(node.accelerator_model) for node in nodes)
            if len({question.kind_of(node.accelerator_model, node.accelerator_memory) for node in nodes}) > 1:
                where = f"its given ranks are on several kinds of accelerators ({join_names(list(models))})"
                message = f"`{component.name}` is out of scope, as {where}"
                return undecided(message, "give it ranks of one kind, or no ranks", name=component.name, how="given")
    return None
