"""Small questions with given ranks, and the one thing that is said of them."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Component
from placewright.models.findings.finding import Finding
from placewright.models.findings.span import Span
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit

from .cases import cluster, given

EIGHT = cluster({"count": 8})
TWO_NODES = cluster({"count": 8}, {"count": 8})


def ranks(name: str, first: int, last: int) -> Component:
    """A component on these accelerators of the first node, written at a place of its own."""
    its = given(name, Run(range(last - first + 1), 0, first=first))
    return replace(its, spans={"placement": Span("job.yaml", first, first + 3, 1, first + 1)})


def demanded(question: Problem, reason: str) -> Problem:
    """The same, with somebody who demands the relations."""
    relations = tuple(replace(relation, reason=reason) for relation in question.job.relations)
    return replace(question, job=replace(question.job, relations=relations))


def only(question: Problem) -> Finding:
    (finding,) = check_explicit(question)
    return finding
