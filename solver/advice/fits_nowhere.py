"""Components that are still to be placed, and that by their estimate fit on no accelerator."""

from __future__ import annotations

from typing import Iterator

from ...models.findings.finding import Finding, Severity
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR
from ...models.memory.estimated import estimated
from ...models.memory.terms import Estimated
from ...models.problem import Problem
from ...models.quantity import write_estimate, write_memory


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
