"""Estimated memory of components that share accelerators, against the accelerators' memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ..models.component import Component
from ..models.estimate import CHUNKED, DISTRIBUTED, FULL, MEGATRON, NONE, ZERO3
from ..models.findings.finding import Finding, Severity
from ..models.findings.wording import with_noun
from ..models.machines.node_group import ACCELERATOR
from ..models.memory.estimate import estimate_memory
from ..models.memory.terms import EXACT, EstimatedTotal, mebibytes
from ..models.memory.work import optimizer_of
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.quantity import write_estimate, write_memory
from ..models.record import dataclass
from .memory import pieces
from .stretches import stretches
from .wording import lowest


@dataclass(frozen=True)
class EstimatedNeed:
    """Memory need of a component on one accelerator.

    Attributes
    ----------
    works : MiB while the component works.
    stays : MiB that remain allocated while another component works.
    estimate : source of both amounts; None if the file declares the memory.
    """

    component: Component
    works: int
    stays: int
    estimate: EstimatedTotal | None = None


def check_estimates(problem: Problem, assignment: Assignment, code: str) -> Iterator[Finding]:
    """Yield a finding per set of components that may exceed an accelerator's memory.

    A set holds the components that meet on an accelerator of known memory. It is reported if at
    least one need is an estimate and the sum of the highs does not fit.
    """
    asking = [component for component in problem.components if component.memory or component.offloaded or component.estimate]
    seen: set[tuple[str, ...]] = set()
    for ranks, node, masks in stretches(problem, assignment, asking):
        capacity = node.accelerator_memory
        shares = [(mask, component) for component in asking if (mask := masks.get((component.name, ACCELERATOR), 0))]
        for mask in pieces([mask for mask, _ in shares]) if capacity is not None else ():
            sharers = [component for share, component in shares if share & mask]
            names = tuple(component.name for component in sharers)
            if capacity is not None and names not in seen and any(component.estimate for component in sharers):
                seen.add(names)
                yield from _judge(code, problem, assignment, sharers, capacity, (ranks.start, lowest(mask)))


def _judge(
    code: str, problem: Problem, assignment: Assignment, sharers: Sequence[Component], capacity: int, place: tuple[int, int]
) -> Iterator[Finding]:
    """Yield a finding if the sharers of an accelerator exceed it, or may exceed it.

    It is an error if a component alone exceeds it by what the user wrote of its states.
    """
    needs = [_need(problem, assignment, component, capacity) for component in sharers]
    worst, phase = _worst(needs)
    most, most_phase = _worst([_at_most(need) for need in needs])
    if most <= capacity or not any(need.estimate for need in needs):
        return
    certain = max(needs, key=lambda need: need.estimate.certain if need.estimate else 0)
    surely = certain.estimate.certain if certain.estimate else 0
    phase = phase if worst > capacity else most_phase
    first = max((need for need in needs if need.estimate), key=lambda need: need.works if need.component is phase else need.stays).component
    bill = " + ".join(filter(None, (_part(need, phase) for need in needs)))
    severity, statement = Severity.WARNING, f"by an estimate {write_estimate(worst)} are needed, at most {write_estimate(most)}: {bill}"
    if surely > capacity:
        first, severity = certain.component, Severity.ERROR
        statement = f"{first.name} needs {write_estimate(surely)} for {_states(first)}"
    changes = list(_changes(problem, assignment, sharers, capacity))
    notes = [note for need in needs for note in terms_of(need.component.name, need.estimate, not _works(need, phase))]
    yield Finding(
        code, severity, first.name, f"accelerator {place[1]} of node {place[0]} has {write_memory(capacity)}; {statement}",
        first.span("estimate"), label="estimated", notes=tuple(notes), witnesses=place, amount=most - capacity,
        help="; or ".join(changes) or "write the `memory` that was measured, or use more or larger accelerators",
    )  # fmt: skip


def _states(component: Component) -> str:
    return "its weights, gradients and optimizer" if optimizer_of(component) != NONE else "its weights"


def _need(problem: Problem, assignment: Assignment, component: Component, capacity: int) -> EstimatedNeed:
    if component.memory or component.offloaded:
        return EstimatedNeed(component, component.memory, component.offloaded if component.phases else component.memory)
    use = problem.job.models.get(component.name)
    memory = estimate_memory(component, use.card if use else None, component.parallel, assignment.amount(component.name), capacity)
    return EstimatedNeed(component, memory.mebibytes, memory.kept, memory) if memory else EstimatedNeed(component, 0, 0)


def _at_most(need: EstimatedNeed) -> EstimatedNeed:
    return replace(need, works=need.estimate.high, stays=need.estimate.kept_high) if need.estimate else need


def _worst(needs: Sequence[EstimatedNeed]) -> tuple[int, Component]:
    """Return the MiB at the worst moment, and a component working then; phases take turns."""
    always = sum(need.stays for need in needs)
    rises: dict[str, tuple[int, Component]] = {}
    for number, need in enumerate(needs):
        for turn in need.component.phases or (f"turn {number}",):
            before, first = rises.get(turn, (0, need.component))
            rises[turn] = (before + need.works - need.stays, first)
    most, component = max(rises.values(), key=lambda rise: rise[0])
    return always + most, component


def _works(need: EstimatedNeed, working: Component) -> bool:
    """Return True if `need.component` works at the same time as `working`."""
    return need.component is working or not set(need.component.phases).isdisjoint(working.phases)


def _part(need: EstimatedNeed, working: Component) -> str:
    """Return `actor 42.0 GiB` or `rollout 14.2 GiB (kept)`; "" for an amount of zero."""
    component = need.component
    works = _works(need, working)
    amount = need.works if works else need.stays
    if not amount:
        return ""
    text = write_estimate(amount) if need.estimate else write_memory(amount)
    return f"{component.name} {text}" + ("" if works or need.works == need.stays else " (kept)")


def _changes(problem: Problem, assignment: Assignment, sharers: Sequence[Component], capacity: int) -> Iterator[str]:
    """Yield single changes of estimate keys that make the estimate fit, all estimated."""
    for position, component in enumerate(sharers):
        estimate = component.estimate
        if estimate is None or component.memory or component.offloaded:
            continue
        trains = optimizer_of(component) != NONE
        options: list[tuple[str, object]] = [("offload", True)] if len(sharers) > 1 and not estimate.offload else []
        if estimate.micro_batch > 1:
            options.append(("micro_batch", 1))
        if trains and estimate.recompute != FULL:
            options.append(("recompute", FULL))
        if estimate.logits != CHUNKED and estimate.sharding not in (MEGATRON, DISTRIBUTED):
            options.append(("logits", CHUNKED))
        if trains and estimate.sharding in (NONE, "zero1", "zero2"):
            options.append(("sharding", ZERO3))
        if trains and estimate.sharding == MEGATRON:
            options.append(("sharding", DISTRIBUTED))
        for key, value in options:
            variant = replace(component, estimate=replace(estimate, **{key: value}))  # type: ignore[arg-type]
            variants = [variant if number == position else current for number, current in enumerate(sharers)]
            if _worst([_at_most(_need(problem, assignment, changed_component, capacity)) for changed_component in variants])[0] <= capacity:
                word = "true" if value is True else value
                yield f"run {component.name} with `{key}: {word}`"


def fits_nowhere(problem: Problem, code: str) -> Iterator[Finding]:
    """Yield a finding per hinted component whose low exceeds every accelerator.

    It is an error if what the user wrote of its states alone does.

    The estimate is made for the largest allowed number of accelerators. A component is skipped if
    the memory of some allowed node is unknown.
    """
    for component in problem.hinted:
        if component.estimate is None or component.memory or component.offloaded or problem.kind(component) != ACCELERATOR:
            continue
        eligible = problem.cluster.members(component.node_groups) - set(component.excluded)
        capacities = [node.accelerator_memory for node in problem.cluster.nodes if node.rank in eligible and node.accelerators]
        memories = [memory for memory in capacities if memory is not None]
        if not memories or len(memories) < len(capacities):
            continue
        largest, most = max(memories), min(component.most, problem.cluster.total(ACCELERATOR))
        use = problem.job.models.get(component.name)
        choices = problem.job.choices.get(component.name, (component.parallel,))
        estimates = [estimate_memory(component, use.card if use else None, parallel, most, largest) for parallel in choices]
        best = min((estimate for estimate in estimates if estimate), key=lambda estimate: estimate.low, default=None)
        if best is not None and best.low > largest:
            surely, of_each = min(estimate.certain for estimate in estimates if estimate), f"of each of {with_noun(most, 'accelerator')}"
            severity, need = Severity.WARNING, f"by an estimate {component.name} needs at least {write_estimate(best.low)} {of_each}"
            if surely > largest:
                severity, need = Severity.ERROR, f"{component.name} needs {write_estimate(surely)} {of_each} for {_states(component)}"
            message = f"{need}; the largest has {write_memory(largest)}"
            yield Finding(
                code, severity, component.name, message, component.span("estimate"), label="estimated",
                help="use more or larger accelerators, more degrees, or other `sharding`", amount=best.low - largest,
                notes=tuple(terms_of(component.name, best)),
            )  # fmt: skip


def terms_of(name: str, estimate: EstimatedTotal | None, waits: bool = False) -> Iterator[str]:
    """Yield the terms of an estimate with formulas, sources, omissions and assumptions.

    With `waits`, only terms that stay allocated while another component works.
    """
    for term in (estimate.kept_terms if waits else estimate.terms) if estimate else ():
        between = "" if term.spread == EXACT else f", {write_estimate(mebibytes((term.low,)))} to {write_estimate(mebibytes((term.high,)))}"
        yield f"{name}: {term.name} {write_estimate(term.mebibytes)}{between} = {term.formula} ({term.source})"
    for missing in estimate.missing if estimate else ():
        yield f"{name}: not counted are {missing}"
    for assumption in estimate.assumed if estimate and not waits else ():
        yield f"{name}: assumed: {assumption}"
