"""Where the file says what stands in the way of every design."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.component import APART, COLOCATED, DISJOINT, IN_ORDER, NOT_FEWER, RANK_ALIGNED, SUBSET, ZERO_COPY, Relation
from ...models.findings.span import Span
from ...models.machines.accelerators import GENERIC
from ...models.parallel import Parallel
from ...models.planning.design import Design
from ...models.planning.option import NO_KIND
from ...models.planning.question import Question
from ...models.problem import AMOUNT, Problem
from ...solver.wording import listed

_SAID = {
    "apart": (DISJOINT, APART, IN_ORDER), "together": (COLOCATED, RANK_ALIGNED, ZERO_COPY), "within": (SUBSET,), "not_fewer": (NOT_FEWER,),
}  # fmt: skip
"""Field of a question -> the relations that it is made of."""


MOST_TOLD = 6


FEW = 3
"""Components of which each alone is tried, at most."""


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


def nothing_in_common(question: Question) -> str:
    """Such as ``: `rollout` (tp 3) can have 3, 6, 12, `actor` 1, 2, 4, 8``; "" where each set of them has a count in common."""
    for names in _sets(question):
        amounts = {name: {(its.kind, its.amount) for its in question.options[name]} for name in names}
        if not set.intersection(*amounts.values()):
            return f": {', '.join(_told(question, name, first=name == names[0]) for name in names)}"
    return ""


def _sets(question: Question) -> Iterator[list[str]]:
    """The components that are on the same accelerators, those on one set together, in the order of the question."""
    left = [name for name in question.components if any(name in pair for pair in question.together)]
    while left:
        reached, before = {left[0]}, set[str]()
        while reached != before:
            before = set(reached)
            reached |= {name for pair in question.together if not reached.isdisjoint(pair) for name in pair}
        yield [name for name in left if name in reached]
        left = [name for name in left if name not in reached]


def _told(question: Question, name: str, first: bool) -> str:
    options = [each for each in question.options[name] if each.kind != NO_KIND]
    counts = sorted({each.amount for each in options})
    degrees = {each.parallel for each in options}
    said = f" ({degrees.pop()})" if len(degrees) == 1 and degrees != {Parallel()} else ""
    return f"`{name}`{said}{' can have' if first else ''} {few(counts)}"


def few(counts: Sequence[int]) -> str:
    """Of many counts, in order, the first and the last; `1-8` where none between them is missing."""
    if len(counts) <= MOST_TOLD:
        return ", ".join(map(str, counts))
    if counts[-1] - counts[0] < len(counts):
        return f"{counts[0]}-{counts[-1]}"
    return f"{', '.join(map(str, counts[:5]))}, ... {counts[-1]}"
