"""Demands of a timed problem, and infeasible counts proved by arithmetic or a short search.

A longer search may find further reasons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping, Sequence

from ...models.answer import Answer
from ...models.component import UNBOUNDED, Component
from ...models.findings.finding import Finding, error
from ...models.findings.wording import are, with_noun
from ...models.machines.node import GENERIC
from ...models.machines.node_group import ACCELERATOR
from ...models.parallel import Parallel
from ...models.planning.option import AcceleratorKind, Option
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import ACCELERATORS, POWER, SECONDS, STREAM, TABLE, Budget, TimedComponent, Workload
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ...models.quantity import write_memory
from ...models.sharing import restrict
from ...solver.refuting.conflict import changeable_first, clauses, merge_clauses, quickxplain, with_line
from ...solver.wording import exactly_in_seconds, few, join_names, round_seconds, with_unit
from ..capacity import free_capacity
from ..costs import cost_model
from ..problem import overlaps, planning_problem
from ..profile import options
from ..scope import may_span

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
    if answer_undecided(problem, question) is None:
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
            fixed_count = question.given.held if field == BUDGET_ACCELERATORS else 0
            allow = f"accelerators: {bound + fixed_count}" if field == BUDGET_ACCELERATORS else f"seconds: {round_seconds(bound)}"
            figures, span = (bound + fixed_count, most + fixed_count), workload.place(field)
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
                from ..unplaced import report_undecided  # for such ranks alone

                message = f"`{component.name}` is out of scope, as {where}"
                return report_undecided(message, "give it ranks of one kind, or no ranks", name=component.name, how="given")
    return None


BUDGET_SECONDS, BUDGET_ACCELERATORS, COST_MODEL = "budget.seconds", "budget.accelerators", "cost_model"
"""Fields of demands of the plan, which belong to no component."""
TIMES, RANKS = "timed", "runs"
"""Fields of demands for the conditions of times, and for given ranks."""


def demands(problem: Problem) -> list[Demand]:
    """Return all demands except times and ranks, changeable ones first."""
    workload, job = problem.workload, problem.job
    is_stated = {
        BUDGET_SECONDS: workload.budget.nanoseconds is not None,
        BUDGET_ACCELERATORS: workload.budget.accelerators is not None,
        COST_MODEL: cost_model(workload.model).restricts,
    }
    any_count = {part.name for part in problem.components if part.least <= 1 and part.most >= UNBOUNDED and not part.counts}
    out = {AMOUNT: any_count, "parallel": set(job.planning.shapes)}  # the framework makes the processes of these
    degrees = [Demand(name, "parallel", problem[name].span("parallel")) for name in job.choices if problem[name].runs is None]
    parts = [demand for demand in (*problem.demands, *degrees) if demand.component not in out.get(demand.field, ())]
    return [*(Demand("", field, workload.place(field)) for field in is_stated if is_stated[field]), *changeable_first(problem, parts)]


def without(problem: Problem, given_up: Sequence[Demand], aim: str = "") -> Problem:
    """Return the problem without demands: more degrees, and no components of dropped ranks."""
    names = {demand.field: {entry.component for entry in given_up if entry.field == demand.field} for demand in given_up}
    workload, core = problem.workload, problem.without(*given_up)
    budget = Budget(
        None if BUDGET_ACCELERATORS in names else workload.budget.accelerators,
        None if BUDGET_SECONDS in names else workload.budget.nanoseconds,
    )
    workload = replace(workload, budget=budget, model=STREAM if COST_MODEL in names else workload.model, aim=aim or workload.aim)
    choices = dict(problem.job.choices)
    for name in sorted(names.get("parallel", ())):
        rows = times.measured if (times := problem[name].timed) else ()
        measured_degrees = (row.parallel for row in rows if row.parallel is not None)
        choices[name] = (*choices.get(name, (problem[name].parallel,)), Parallel(), *measured_degrees)
    parts = tuple(
        replace(part, timed=TimedComponent(tuple(replace(row, parallel=None, model="") for row in part.timed.measured), POWER))
        if part.timed and part.name in names.get(TIMES, ())
        else part
        for part in core.components
    )
    job = replace(core.job, components=parts, choices=choices, planning=replace(core.job.planning, workload=workload))
    names_left = {component.name for component in parts} - names.get(RANKS, set())
    return restrict(replace(core, job=job), names_left) if len(names_left) < len(parts) else replace(core, job=job)


def describe_demands(problem: Problem, subset: Sequence[Demand]) -> list[ConflictClause]:
    """Return the demands in words, with the capacities of the cluster."""
    nodes, workload = problem.cluster.nodes, problem.workload
    memory, size = (
        max((node.accelerator_memory or 0 for node in nodes), default=0),
        max((node.count(ACCELERATOR) for node in nodes), default=0),
    )

    def degrees(name: str) -> str:
        choices = list(dict.fromkeys(problem.job.choices.get(name, (problem[name].parallel,))))
        size_note = f" (the largest node has {with_noun(size, 'accelerator')})" if min(choice.replica for choice in choices) > size else ""
        return f"{name} has {' or '.join(map(str, choices))}{size_note}"

    texts: Mapping[str, Callable[[str], str]] = {
        BUDGET_SECONDS: lambda _: f"{with_unit(exactly_in_seconds(workload.budget.nanoseconds or 0))} an iteration are allowed",
        BUDGET_ACCELERATORS: lambda _: f"{with_noun(workload.budget.accelerators or 0, 'accelerator')} may be used",
        COST_MODEL: lambda _: f"the cost model `{workload.model}` has a time for some arrangements alone",
        "parallel": degrees,
        "memory": lambda name: (
            f"{name} needs {write_memory(problem[name].memory)} on each accelerator (the largest has {write_memory(memory)})"
        ),
        RANKS: lambda name: f"{name} has given ranks",
        TIMES: lambda name: _of_times(problem, problem[name]),
    }
    lines = [ConflictClause(texts[demand.field](demand.component), (demand,)) for demand in subset if demand.field in texts]
    lines += clauses(problem, [demand for demand in subset if demand.field not in texts])
    return sorted(lines, key=lambda clause: min(subset.index(demand) for demand in clause.demands if demand in subset))


def too_small(budget: str, need: int, have: int, within: str = "") -> str:
    """Format a budget and the need, in ns or accelerators."""
    if budget == BUDGET_SECONDS:
        limit = exactly_in_seconds(have)
        return f"an iteration takes at least {with_unit(round_seconds(need))}, {limit} {are(limit)} allowed"
    return f"at least {with_noun(need, 'accelerator')} {are(need)} needed{within}, {have} may be used"


def model_name(model: str) -> str:
    """Format a model of accelerators inside a sentence; the cluster may name none."""
    return "accelerators of no known model" if model in ("", GENERIC) else model


def _of_times(problem: Problem, component: Component) -> str:
    """Format the conditions of a component's times."""
    name, times = component.name, component.timed or TimedComponent(())
    texts = [f"the replicas of {name} divide {with_noun(times.samples, 'sample')} evenly"] if times.samples else []
    texts += (
        [f"the times of {name} are a table for {few(sorted({measurement.accelerators for measurement in times.measured}))}"]
        if times.scaling == TABLE
        else []
    )
    rows = dict.fromkeys(
        " ".join(f"{word} {text}" for word, text in (("with", row.degrees), ("on", row.model)) if text) for row in times.measured
    )
    models = dict.fromkeys(model_name(node.accelerator_model) for node in problem.cluster.nodes if node.accelerators)
    note = f" (the cluster has {join_names(list(models))})" if any(measurement.model for measurement in times.measured) else ""
    texts += [f"{name} was measured {' or '.join(rows)}{note}"] if all(rows) else []
    return " and ".join(texts) or f"the times of {name}"
