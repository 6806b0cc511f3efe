"""Questions whose numbers the solver cannot add up, or of which nobody could wait for the model: said before it is built."""

from __future__ import annotations

from typing import Iterator

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.problem import Problem
from ..layout.layout import Layout
from ..objectives.tiers import tiers

MOST_COST = 1 << 53
"""Sums up to this are exact in floating point too, which the solver's bounds on the objective are."""
MOST_SUM = 1 << 62
"""Sums up to this, and their differences, are exact in 64 bits, in which the solver adds up all else."""
MOST_DECISIONS = 500_000
"""Beyond it a model takes gigabytes and minutes before any search begins: some 4 KB and 25 microseconds for each decision."""
_AMOUNTS = ("memory", "offloaded", "host_memory", "cpus")


def too_large(problem: Problem, layout: Layout) -> Iterator[Finding]:
    """What is too large, if anything is."""
    decisions = len(layout.counted) * len(layout.cells) + sum(layout.numbering(bundle).size for bundle in layout.ranged)
    if decisions > MOST_DECISIONS:
        message = f"this is not searched: it takes {decisions:,} decisions, and no more than {MOST_DECISIONS:,} are searched"
        many = f"{len(layout.searched)} components that are placed each by itself, on {len(layout.cells):,} sorts of nodes"
        yield error("PW604", "", message, notes=(many,), help="place some of the components by hand, or colocate them")
    for component in problem.hinted:
        field = max(_AMOUNTS, key=lambda name: _in_all(problem, component, name))
        if _in_all(problem, component, field) > MOST_SUM:
            yield _sum(component.name, f"`{field}` of {component.name}", MOST_SUM, component.span(field))
    for tier in tiers(problem):
        if sum(cost * term.most(problem) for term, cost in tier.members) > MOST_COST:
            name, what, span = _largest(problem)
            yield _sum(name, what, MOST_COST, span)
            return


def _in_all(problem: Problem, component: Component, field: str) -> int:
    processes = min(component.most, problem.room_for(component)) // component.per_process
    return int(getattr(component, field)) * max(1, processes)


def _largest(problem: Problem) -> tuple[str, str, Span | None]:
    """(component, what is said of it, where) of the largest amount that the objective is made of."""
    said = [(its.traffic, its.name, f"`traffic` of {its.name}", its.span("traffic")) for its in problem.components]
    for link in problem.job.links:
        said.append((max(link.weights, link.stream), link.source, f"what {link.source} sends to {link.target}", link.span))
    _, name, what, span = max(said, key=lambda each: each[0])
    return name, what, span


def _sum(name: str, what: str, most: int, span: Span | None) -> Finding:
    message = f"this is not searched: {what} amounts to sums above {most:,}, which are not exact"
    return error("PW604", name, message, span, help="write smaller amounts; to weigh them against each other only their ratio matters")
