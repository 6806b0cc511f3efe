"""Infeasible counts proved by arithmetic alone; a search may find further reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.cost_models import CostModel
from ...models.planning.option import AcceleratorKind, Option
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import Workload
from ...models.problem import AMOUNT, Demand, Problem
from ...solver.refuting.conflict import merged, quickxplain, with_line
from ...solver.wording import few, in_seconds, listed
from ..capacity import free_capacity
from ..costs import cost_model
from ..problem import planning_problem
from ..profile import options
from ..related import overlaps
from ..scope import may_span
from .demands import BUDGET_ACCELERATORS, BUDGET_SECONDS, RANKS, TIMES, demands, in_words, model_name, too_small, without

MOST = 10_000
"""Maximum number of options for quick reasons, a few hundredths of a second."""


def of_times(problem: Problem, workload: Workload) -> Iterator[Finding]:
    """Yield quick reasons: a component without options, or a budget too small."""
    job, timed = problem.job, [component for component in problem.components if component.timed]
    if job.planning.laying is not None or job.overlaps or may_span(problem) or overlaps(problem, timed):
        return
    if problem.cluster.total() * sum(len(job.choices.get(component.name, (component.parallel,))) for component in problem.hinted) > MOST:
        return
    workload = replace(workload, heeds_estimates=False)  # an estimate makes nothing impossible
    problem = replace(problem, job=replace(job, planning=replace(job.planning, workload=workload)))
    question = planning_problem(problem, workload)
    if (known := by_given_ranks(problem, question)) is not None:
        yield from known.findings if known.verdict == IMPOSSIBLE else ()
        return
    yield from [finding for finding, _ in infeasible_components(problem, question)] or _over_budget(workload, question)


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

        def refuted(kept: Sequence[Demand], name: str = name, every: Sequence[Demand] = every, idle: bool = idle) -> bool:
            left, kinds = _options(without(problem, [demand for demand in every if demand not in kept]), name, holding)
            return not _fits(left, kinds, idle)

        blamed = quickxplain(every, refuted) if refuted(every) else []
        span = next((demand.span for demand in blamed if demand.span), problem[name].span(AMOUNT))
        free = [option for demand in blamed if demand.field == AMOUNT for option in _options(without(problem, [demand]), name, holding)[0]]
        why = list(merged(in_words(problem, blamed)))
        elsewhere = [any(demand.span and span and demand.span.line != span.line for demand in clause.demands) for clause in why]
        notes = [with_line(clause, span) for clause, far in zip(why, elsewhere) if far]
        message = "with all of its demands"
        if len(why) < 2:
            message = next((clause.text for clause in why), "no count and no degrees of it suit the cluster and its framework")
        else:
            notes = [with_line(clause, span) if far else clause.text for clause, far in zip(why, elsewhere)]
        notes += [f"{name} can have {few(sorted({option.amount for option in free}))}"] if free else []
        separator = ":" if len(why) < 2 else ""
        yield error("PW601", name, f"impossible: no plan can run `{name}`{separator} {message}", span, notes=tuple(notes)), blamed


def _options(problem: Problem, name: str, holding: Sequence[Component]) -> tuple[tuple[Option, ...], Sequence[AcceleratorKind]]:
    """Return the options of a component and its kinds, beside given ranks."""
    names = {component.name for component in problem.components}
    space = free_capacity(problem, [component for component in holding if component.name in names])
    return options(problem, problem[name], problem[name].timed, space, 1), space.kinds


def _fits(options: Sequence[Option], kinds: Sequence[AcceleratorKind], idle: bool) -> bool:
    """Return True if an option fits alone by declared memory."""
    limits = [kinds[option.kind].memory if option.kind >= 0 else None for option in options]
    return any(idle or limit is None or option.memory <= limit or option.estimated for option, limit in zip(options, limits))


def _over_budget(workload: Workload, question: PlanningProblem) -> Iterator[Finding]:
    most, allowed, held = question.budget.accelerators, question.budget.nanoseconds, question.given.held
    need, takes = fewest(question), quickest(question, cost_model(workload.model))
    field, figures, least = BUDGET_SECONDS, (takes, allowed or 0), f"seconds: {in_seconds(takes)}"
    if most is not None and need > most:
        field, figures, least = BUDGET_ACCELERATORS, (need + held, most + held), f"accelerators: {need + held}"
    elif allowed is None or takes <= allowed:
        return
    message, advice = f"impossible: {too_small(field, *figures)}", f"allow at least `{least}`"
    yield error("PW601", "", message, workload.place(field), help=advice, witnesses=figures)


def by_given_ranks(problem: Problem, question: PlanningProblem) -> Answer | None:
    """Return the undecided answer for given ranks on several kinds, which are out of scope."""
    for component in problem.components if len(question.kinds) > 1 else ():
        if component.runs is not None and component.name in question.options and problem.kind(component) == ACCELERATOR:
            nodes = [problem.cluster.nodes[node] for node, _ in problem.given().masks(component.name)]
            models = dict.fromkeys(model_name(node.accelerator_model) for node in nodes)
            if len({question.kind_of(node.accelerator_model, node.accelerator_memory) for node in nodes}) > 1:
                where = f"its given ranks are on several kinds of accelerators ({listed(list(models))})"
                message = f"undecided: `{component.name}` is out of scope, as {where}"
                help_text = "give it ranks of one kind, or no ranks"
                return Answer(UNDECIDED, findings=(error("PW602", component.name, message, help=help_text),), how="given")
    return None


def fewest(question: PlanningProblem) -> int:
    """Return a lower bound of accelerators: components that never share add up."""
    least = {name: min((option.accelerators for option in candidates), default=0) for name, candidates in question.options.items()}
    sets = [{name} for name in least] + [set(pair) for pair in question.sharing.apart] + [set(names) for names in question.sharing.filling]
    return max((sum(least[name] for name in names) for names in sets), default=0)


def quickest(question: PlanningProblem, model: CostModel) -> int:
    """Return a lower bound of an iteration in ns: sequential segments add up."""
    most, options = question.budget.accelerators, dict[str, list[Option]]()
    for name, every in question.options.items():
        options[name] = [option for option in every if most is None or option.accelerators <= most]
    if not model.full or not all(options.values()):
        return 0
    least, longest = [0] * len(question.tasks), dict[int, int]()
    for name, candidates in options.items():
        for place, task in enumerate(question.tasks_of[name]):
            least[task] = min(option.nanoseconds[place] for option in candidates)
    for task, time in enumerate(least if model.by_phase else ()):
        segment = model.segment(question, task)
        longest[segment] = max(longest.get(segment, 0), time)
    # The work of one component is never two things at once.
    alone = max((min(sum(option.nanoseconds) for option in candidates) for candidates in options.values()), default=0)
    return max(alone, sum(longest.values()) if model.by_phase else _one_after_the_other(question, least))


def _one_after_the_other(question: PlanningProblem, least: list[int]) -> int:
    """Return the longest chain by edges: dependents are in later segments."""
    before = [0] * len(least)
    """ns of the segments before that of a task."""
    until = list(least)
    for task in range(len(least)):
        for edge in question.flow.edges:
            if edge.later == task and edge.earlier < task:
                before[task] = max(before[task], until[edge.earlier] if edge.whole else before[edge.earlier])
                until[task] = max(until[task], until[edge.earlier])
        until[task] = max(until[task], before[task] + least[task])
    return max(until, default=0)
