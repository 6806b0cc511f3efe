"""Bill of estimates: what components that share accelerators need, against the memory that there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.component import Component
from ...models.estimate import DISTRIBUTED, FULL, MEGATRON, NONE, ZERO3
from ...models.findings.finding import Finding, Severity
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR
from ...models.memory.estimated import SLACK, estimated, with_slack
from ...models.memory.terms import Estimated
from ...models.memory.work import optimizer_of
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.quantity import write_estimate, write_memory
from ...models.record import dataclass
from ..memory import pieces
from ..stretches import stretches
from ..wording import lowest


@dataclass(frozen=True)
class Need:
    """What a component needs on an accelerator: MiB while it works, MiB that stay while another one does; and the estimate, if it is one."""

    component: Component
    works: int
    stays: int
    estimate: Estimated | None = None


def judged(problem: Problem, assignment: Assignment, code: str) -> Iterator[Finding]:
    """Each set of components that meet on accelerators whose memory is known, where an estimate of them does not fit or is close."""
    asking = [component for component in problem.components if component.memory or component.offloaded or component.estimate]
    told: set[tuple[str, ...]] = set()
    for ranks, node, held in stretches(problem, assignment, asking):
        has = node.accelerator_memory
        shares = [(mask, component) for component in asking if (mask := held.get((component.name, ACCELERATOR), 0))]
        for mask in pieces([mask for mask, _ in shares]) if has is not None else ():
            here = [component for its, component in shares if its & mask]
            names = tuple(component.name for component in here)
            if has is not None and names not in told and any(component.estimate for component in here):
                told.add(names)
                yield from _judge(code, problem, assignment, here, has, (ranks.start, lowest(mask)))


def _judge(
    code: str, problem: Problem, assignment: Assignment, here: Sequence[Component], has: int, where: tuple[int, int]
) -> Iterator[Finding]:
    needs = [_need(problem, assignment, component, has) for component in here]
    worst, phase = _worst(needs)
    slack, _ = _worst([_slackened(each) for each in needs])
    if slack <= has or not any(each.estimate for each in needs):
        return
    first = max((each for each in needs if each.estimate), key=lambda each: each.works if each.component is phase else each.stays).component
    bill = " + ".join(filter(None, (_part(each, phase) for each in needs)))
    short = worst > has
    said = (
        f"by an estimate {write_estimate(worst)} are needed"
        if short
        else f"an estimate of {write_estimate(worst)} leaves less than {SLACK} %"
    )
    message = f"accelerator {where[1]} of node {where[0]} has {write_memory(has)}; {said}: {bill}"
    changes = list(_changes(problem, assignment, here, has)) if short else []
    yield Finding(
        code, Severity.WARNING if short else Severity.INFO, first.name, message, first.span("estimate"), label="estimated",
        help="; or ".join(changes) or "write the `memory` that was measured, or use more or larger accelerators",
        notes=tuple(note for each in needs for note in terms_of(each.component.name, each.estimate, not _works(each, phase))) if short else (), witnesses=where, amount=worst - has,
    )  # fmt: skip


def _need(problem: Problem, assignment: Assignment, component: Component, has: int) -> Need:
    if component.memory or component.offloaded:
        return Need(component, component.memory, component.offloaded if component.phases else component.memory)
    use = problem.job.models.get(component.name)
    found = estimated(component, use.card if use else None, component.parallel, assignment.amount(component.name), has)
    return Need(component, found.mebibytes, found.kept, found) if found else Need(component, 0, 0)


def _slackened(need: Need) -> Need:
    return replace(need, works=with_slack(need.works), stays=with_slack(need.stays)) if need.estimate else need


def _worst(needs: Sequence[Need]) -> tuple[int, Component]:
    """(MiB that are needed at the worst moment, a component that works then): all of one phase work together, those without one in turn."""
    kept = sum(need.stays for need in needs)
    rises: dict[str, tuple[int, Component]] = {}
    for number, need in enumerate(needs):
        for turn in need.component.phases or (f"turn {number}",):
            before, first = rises.get(turn, (0, need.component))
            rises[turn] = (before + need.works - need.stays, first)
    most, component = max(rises.values(), key=lambda each: each[0])
    return kept + most, component


def _works(need: Need, working: Component) -> bool:
    """Does it work while this one does?"""
    return need.component is working or not set(need.component.phases).isdisjoint(working.phases)


def _part(need: Need, working: Component) -> str:
    """`actor 42.0 GiB`, `rollout 14.2 GiB (kept)`; "" for what needs nothing then."""
    component = need.component
    works = _works(need, working)
    amount = need.works if works else need.stays
    if not amount:
        return ""
    text = write_estimate(amount) if need.estimate else write_memory(amount)
    return f"{component.name} {text}" + ("" if works or need.works == need.stays else " (kept)")


def _changes(problem: Problem, assignment: Assignment, here: Sequence[Component], has: int) -> Iterator[str]:
    """Single changes of an estimate's keys with which it would fit; each was estimated."""
    for place, component in enumerate(here):
        estimate = component.estimate
        if estimate is None or component.memory or component.offloaded:
            continue
        trains = optimizer_of(component) != NONE
        tried: list[tuple[str, object]] = [("offload", True)] if len(here) > 1 and not estimate.offload else []
        if estimate.micro_batch > 1:
            tried.append(("micro_batch", 1))
        if trains and estimate.recompute != FULL:
            tried.append(("recompute", FULL))
        if trains and estimate.sharding in (NONE, "zero1", "zero2"):
            tried.append(("sharding", ZERO3))
        if trains and estimate.sharding == MEGATRON:
            tried.append(("sharding", DISTRIBUTED))
        for key, value in tried:
            changed = replace(component, estimate=replace(estimate, **{key: value}))  # type: ignore[arg-type]
            its = [changed if number == place else each for number, each in enumerate(here)]
            if _worst([_slackened(_need(problem, assignment, each, has)) for each in its])[0] <= has:
                word = "true" if value is True else value
                yield f"run {component.name} with `{key}: {word}`"


def fits_nowhere(problem: Problem, code: str) -> Iterator[Finding]:
    """Components that are still to be placed, and that by their estimate fit nowhere, on however many accelerators."""
    for component in problem.hinted:
        if component.estimate is None or component.memory or component.offloaded or problem.kind(component) != ACCELERATOR:
            continue
        allowed = problem.cluster.members(component.node_groups) - set(component.excluded)
        has = [node.accelerator_memory for node in problem.cluster.nodes if node.rank in allowed and node.accelerators]
        known = [each for each in has if each is not None]
        if not known or len(known) < len(has):
            continue
        largest, most = max(known), min(component.most, problem.cluster.total(ACCELERATOR))
        use = problem.job.models.get(component.name)
        card = use.card if use else None
        choices = problem.job.choices.get(component.name, (component.parallel,))
        found = [estimated(component, card, each, most, largest) for each in choices]
        least = min((each.mebibytes for each in found if each), default=0)
        if least > largest:
            accelerators = f"{most} {plural('accelerator', most)}"
            message = f"by an estimate {component.name} needs {write_estimate(least)} of each of {accelerators}; the largest has {write_memory(largest)}"
            best = min((each for each in found if each), key=lambda each: each.mebibytes)
            yield Finding(
                code, Severity.WARNING, component.name, message, component.span("estimate"), label="estimated",
                help="use more or larger accelerators, more degrees, or other `sharding`", amount=least - largest,
                notes=tuple(terms_of(component.name, best)),
            )  # fmt: skip


def terms_of(name: str, estimate: Estimated | None, waits: bool = False) -> Iterator[str]:
    """Each term of a component's estimate with its formula and its source, what is not counted and what is assumed; where it waits, what it keeps."""
    for term in estimate.terms if estimate and not (waits and estimate.offloaded) else ():
        if waits and not term.stays:
            continue
        yield f"{name}: {term.name} {write_estimate(term.mebibytes)} = {term.formula} ({term.source})"
    for missing in estimate.missing if estimate else ():
        yield f"{name}: not counted are {missing}"
    for assumed in estimate.assumed if estimate and not waits else ():
        yield f"{name}: assumed: {assumed}"
