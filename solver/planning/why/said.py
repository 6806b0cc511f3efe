"""Where the file says what stands in the way of every design."""

from __future__ import annotations

from ....models.component import APART, COLOCATED, DISJOINT, IN_ORDER, NOT_FEWER, RANK_ALIGNED, SUBSET, ZERO_COPY, Relation
from ....models.findings.span import Span
from ....models.machines.accelerators import GENERIC
from ....models.planning.design import Design
from ....models.planning.question import Question
from ....models.problem import AMOUNT, Problem
from ...wording import listed
from .common import MOST_TOLD

_SAID = {
    "apart": (DISJOINT, APART, IN_ORDER), "together": (COLOCATED, RANK_ALIGNED, ZERO_COPY), "within": (SUBSET,), "not_fewer": (NOT_FEWER,),
}  # fmt: skip
"""Field of a question -> the relations that it is made of."""


def place_of(problem: Problem, question: Question, changed: Question) -> Span | None:
    """Where the first of the relations stands that the changed question is without."""
    return next((each.span for each in dropped(problem, question, changed) if each.span), None)


def demanded_by(problem: Problem, question: Question, changed: Question) -> str:
    """Who demands the relations that the changed question is without; "" where the file itself says one of them."""
    related = dropped(problem, question, changed)
    return "; ".join(dict.fromkeys(each.reason for each in related)) if all(each.reason for each in related) else ""


def dropped(problem: Problem, question: Question, changed: Question) -> list[Relation]:
    """The relations that the changed question is without; all of their kinds where none is of the pairs that it lacks."""
    fields = [field for field in _SAID if getattr(question, field) != getattr(changed, field)]
    related = [each for field in fields for kind in _SAID[field] for each in problem.related(kind)]
    pairs = [set(pair) for field in fields for pair in getattr(question, field) - getattr(changed, field)]
    return [each for each in related if any(pair <= set(each.components) for pair in pairs)] or related


def most_memory(problem: Problem, question: Question) -> Span | None:
    """Where the component says its memory that needs the most."""
    needs = {name: max((option.memory for option in its), default=0) for name, its in question.options.items()}
    return problem[max(needs, key=needs.__getitem__)].span("memory")


def largest(problem: Problem, design: Design) -> Span | None:
    """Where the component says how many accelerators it wants that has the most of all."""
    most = max(design.options, key=lambda name: sum(design.blocks[place].accelerators for place in design.blocks_of(name)))
    return problem[most].span(AMOUNT)


def its_sets(design: Design) -> str:
    """Who is on how many accelerators with whom, such as `: rollout on 6, actor and reference on 4`."""
    sets = [f"{listed(list(each.components))} on {each.accelerators}" for each in design.blocks]
    return f": {', '.join(sets)}" if len(sets) <= MOST_TOLD else ""


def place_of_pair(problem: Problem, field: str, pair: tuple[str, str]) -> Span | None:
    """Where a relation of these two stands that a field of a question is made of."""
    every = (each for kind in _SAID[field] for each in problem.related(kind))
    return next((each.span for each in every if each.span and set(pair) <= set(each.components)), None)


def model_name(model: str) -> str:
    """A model of accelerators as it stands in a sentence, where the cluster may name none."""
    return "accelerators of no known model" if model in ("", GENERIC) else model
