"""Texts of a job's demands: topology, nodes, traffic and times."""

from __future__ import annotations

from collections import Counter
from typing import Iterator, Sequence

from ...models.component import EP, REPLICA, TP, Component, Keep, Spread
from ...models.estimate import non_default_keys
from ...models.findings.span import Span
from ...models.findings.wording import plural
from ...models.job import WEIGHTED, Link, Preference
from ...models.machines.topology import LEVELS
from ...models.planning.workload import SECOND, SECONDS, TABLE, Measurement, Workload
from ...models.problem import Problem
from ...models.quantity import write_memory
from ...models.ranks import list_ranks, write_ranks
from ...models.record import dataclass
from ...models.task_order import order_tasks
from ..wording import exactly_in_seconds, figure, join_names, level_name, with_unit

_GROUP_TEXTS = {TP: "each tp group", EP: "each ep group", REPLICA: "each replica"}
MAX_ROWS = 4
"""Largest number of measurements listed per component."""


@dataclass(frozen=True, slots=True)
class DemandText:
    """Demand on a component, link or job, as a sentence without subject.

    `components` is the subject: two names for a link, none for the job. `span` is where the demand
    is written; None if it is not written.
    """

    components: tuple[str, ...]
    text: str
    span: Span | None = None


def demands_of(problem: Problem) -> tuple[DemandText, ...]:
    """Return all topology and node demands by component, then links, then preferences."""
    demands = [demand for component in problem.components for demand in _describe(component, component.name in problem.job.estimated)]
    demands += [DemandText((link.source, link.target), _link(link), link.span) for link in problem.job.links]
    if problem.job.preference != Preference():
        demands.append(DemandText((), _preference(problem.job.preference)))
    return tuple(demands)


def _describe(component: Component, is_estimate: bool) -> Iterator[DemandText]:
    name = (component.name,)
    yield from (DemandText(name, _keep(keep), keep.span) for keep in component.keep)
    yield from (DemandText(name, _spread(spread), spread.span) for spread in component.spread)
    for pin in component.pins:
        several = "s" * (len(pin.ranks) > 1)
        yield DemandText(name, f"rank{several} {write_ranks((pin.ranks,))} on {_nodes(pin.nodes)}", pin.span)
    if component.excluded:
        yield DemandText(name, f"not on {_nodes(component.excluded)}", component.span("excluded"))
    if component.estimate:
        words = ", ".join(f"{key} {'yes' if value is True else value}" for key, value in non_default_keys(component.estimate).items())
        yield DemandText(name, f"its memory is estimated{': ' * bool(words)}{words}", component.span("estimate"))
    if component.offloaded:
        text = f"{write_memory(component.offloaded)} of each accelerator stay taken while another phase runs"
        yield DemandText(name, text, component.span("offloaded"))
    if component.host_memory:
        yield DemandText(name, f"{write_memory(component.host_memory)} of its node for each process", component.span("host_memory"))
    if component.traffic:
        exchange = f"its processes exchange {write_memory(component.traffic)} a step with each extra node or rack"
        yield DemandText(name, exchange + (" (an estimate)" if is_estimate else ""), None if is_estimate else component.span("traffic"))


def _keep(keep: Keep) -> str:
    most = f"one {level_name(keep.level)}" if keep.domains == 1 else f"at most {keep.domains} {level_name(keep.level)}s"
    return f"{_GROUP_TEXTS.get(keep.unit, 'all of it')} in {most}" + ("" if keep.required else " if that can be")


def _spread(spread: Spread) -> str:
    clauses = [f"in at least {spread.domains} {level_name(spread.level)}s"] if spread.domains > 1 else []
    clauses += [f"at most {spread.percent} % of it in one {level_name(spread.level)}"] if spread.percent < 100 else []
    return ", ".join(clauses) or f"in any {level_name(spread.level)}"


def _link(link: Link) -> str:
    clauses = [f"{write_memory(link.weights)} of weights for each domain without {link.source}"] if link.weights else []
    if link.stream:
        condition = f"that none of {link.source} serves in its domain" + (f", one of which serves {link.ratio}" if link.ratio > 1 else "")
        clauses.append(f"{write_memory(link.stream)} for each accelerator of {link.target} {condition}")
    return " and ".join(clauses) + (" (an estimate)" if link.estimate else "")


def _preference(preference: Preference) -> str:
    if preference.order != WEIGHTED:
        return "bytes across the widest level of the topology count first"
    costs = ", ".join(f"{level_name(level)} {preference.weights.get(level, 1)}" for level in LEVELS)
    return f"bytes across all levels of the topology in one sum, a MiB each: {costs}"


def _nodes(ranks: Sequence[int]) -> str:
    return f"node{'s' * (len(ranks) > 1)} {list_ranks(ranks)}"


def list_times(problem: Problem) -> tuple[DemandText, ...]:
    """Return the times of each component and the selection criteria; empty without times."""
    workload = problem.job.planning.workload
    if workload is None:
        return ()
    times = [demand for component in problem.components for demand in _times(component)]
    return (*times, *(DemandText((), text, workload.span) for text in (*_list_criteria(workload), *_rounds(problem, workload))))


def _times(component: Component) -> Iterator[DemandText]:
    if component.timed is None:
        return
    for phase in component.timed.phases:
        rows = [measurement for measurement in component.timed.measured if measurement.phase == phase and not measurement.assumed]
        formulas = Counter(
            measurement.assumed for measurement in component.timed.measured if measurement.phase == phase and measurement.assumed
        )
        remaining = len(rows) - MAX_ROWS
        more = f", and {remaining} more {plural('measurement', remaining)}" if remaining > 0 else ""
        target = f" to {phase}" if phase else ""
        clauses = [f"takes{target} {join_names([_row(row) for row in rows[:MAX_ROWS]])}{more}"] if rows else []
        clauses += [f"on {count} {'more ' * bool(rows)}counts by {formula}" for formula, count in formulas.items()]
        clauses.append("no other counts" if component.timed.scaling == TABLE else f"{component.timed.scaling} between and beyond")
        spans = [row.span for row in rows if row.span]
        yield DemandText((component.name,), "; ".join(clauses), spans[0] if spans else component.span("timed"))
    if component.timed.samples:
        yield DemandText((component.name,), f"its replicas divide {component.timed.samples} samples evenly", component.span("samples"))


def _row(measurement: Measurement) -> str:
    with_ = [measurement.model] if measurement.model else []
    with_ += [measurement.degrees] if measurement.degrees else []
    return f"{with_unit(format_seconds(measurement.nanoseconds))} on {' '.join([str(measurement.accelerators), *with_])}"


def _list_criteria(workload: Workload) -> Iterator[str]:
    batches = f", handed on in {workload.handed_on} batches" if workload.handed_on > 1 else ""
    aim = "the shortest iteration" if workload.aim == SECONDS else "the fewest accelerators"
    budget = workload.budget
    most = [f"at most {budget.accelerators} {plural('accelerator', budget.accelerators)}"] if budget.accelerators is not None else []
    most += [f"at most {with_unit(exactly_in_seconds(budget.nanoseconds))}"] if budget.nanoseconds is not None else []
    limits = f", with {join_names(most)}" if most else ""
    yield f"{aim} by the cost model {workload.model}{batches}{limits}"
    for after in workload.after:
        yield f"{after.later} works on what {after.earlier} makes" + (", when all of it is there" if after.whole else "")


def _rounds(problem: Problem, workload: Workload) -> Iterator[str]:
    """Yield the cycles of waiting tasks, with their execution order."""
    if not (workload.after and workload.flows):
        return
    tasks, _, rounds = order_tasks(problem.components, workload)
    for cycle in rounds:
        names = join_names([str(tasks[task]) for task in sorted(cycle)])
        yield f"{names} wait for each other: a batch passes them in this order, later tasks wait for the last"


def format_seconds(nanoseconds: int) -> str:
    """Return seconds with six significant figures, without unit."""
    return figure(nanoseconds / SECOND, 6)
