"""Demands of a timed problem, in words, and the problem without some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping, Sequence

from ...models.component import UNBOUNDED, Component
from ...models.findings.wording import are, with_noun
from ...models.machines.node import GENERIC
from ...models.machines.node_group import ACCELERATOR
from ...models.parallel import Parallel
from ...models.planning.workload import POWER, STREAM, TABLE, Budget, TimedComponent
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ...models.quantity import write_memory
from ...models.sharing import restrict
from ...solver.refuting.conflict import changeable_first, clauses
from ...solver.wording import exactly_in_seconds, few, join_names, round_seconds, with_unit
from ..costs import cost_model

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
    choices = {name: tuple(_more_degrees(problem, problem[name])) for name in sorted(names.get("parallel", ()))}
    parts = tuple(
        replace(part, timed=TimedComponent(tuple(replace(row, parallel=None, model="") for row in part.timed.measured), POWER))
        if part.timed and part.name in names.get(TIMES, ())
        else part
        for part in core.components
    )
    job = replace(
        core.job, components=parts, choices={**problem.job.choices, **choices}, planning=replace(core.job.planning, workload=workload)
    )
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


def _more_degrees(problem: Problem, component: Component) -> Iterator[Parallel]:
    """Yield no degrees, allowed degrees, and measured degrees of a component."""
    yield from problem.job.choices.get(component.name, (component.parallel,))
    yield Parallel()
    yield from ((row.parallel for row in component.timed.measured if row.parallel is not None) if component.timed else ())


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
