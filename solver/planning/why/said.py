"""Where the file says what stands in the way of every design, and what it says of two components that cannot both be."""

from __future__ import annotations

from itertools import combinations

from ....models.component import APART, COLOCATED, DISJOINT, IN_ORDER, NOT_FEWER, RANK_ALIGNED, SUBSET, TOGETHER, ZERO_COPY, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.span import Span
from ....models.planning.question import Question
from ....models.problem import Problem

_SAID = {
    "apart": (DISJOINT, APART, IN_ORDER), "together": (COLOCATED, RANK_ALIGNED, ZERO_COPY), "within": (SUBSET,), "not_fewer": (NOT_FEWER,),
}  # fmt: skip
"""Field of a question -> the relations that it is made of."""


def place_of(problem: Problem, question: Question, changed: Question) -> Span | None:
    """Where the first of the relations stands that the changed question is without."""
    kinds = [kind for field, its in _SAID.items() if getattr(question, field) != getattr(changed, field) for kind in its]
    return next((each.span for kind in kinds for each in problem.related(kind) if each.span), None)


def most_memory(problem: Problem, question: Question) -> Span | None:
    """Where the component says its memory that needs the most."""
    needs = {name: max((option.memory for option in its), default=0) for name, its in question.options.items()}
    return problem[max(needs, key=needs.__getitem__)].span("memory")


def contradicted(problem: Problem) -> Finding | None:
    """Two components that are to be on the same accelerators, or the one within the other, and to share none."""
    joined = {each: relation for relation in _of(problem, (*TOGETHER, SUBSET)) for each in _both(relation)}
    for relation in _of(problem, (DISJOINT, IN_ORDER)):
        for pair in _both(relation):
            if other := joined.get(pair):
                one, two = other.components[:2]
                both = (
                    f"`{one}` is to be within `{two}`"
                    if other.kind == SUBSET
                    else f"`{one}` and `{two}` are to be on the same accelerators"
                )
                message = f"impossible: {both}, and they are to share none"
                return error(
                    "PW601", one, message, relation.span, label="none in common", help="drop one of the two demands",
                    origin=other.span, origin_label="here they are put together",
                )  # fmt: skip
    return None


def _of(problem: Problem, kinds: tuple[str, ...]) -> list[Relation]:
    return [each for kind in kinds for each in problem.related(kind)]


def _both(relation: Relation) -> list[tuple[str, str]]:
    """Its pairs, each in the order of the names."""
    return list(combinations(sorted(relation.components), 2))
