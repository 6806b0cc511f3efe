"""Rule PW611: limited terms of the objective stay within their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.findings.finding import Finding, error
from ...models.placements.assignment import Assignment
from ...models.problem import Cap, ConflictClause, Problem

if TYPE_CHECKING:
    from ..model.variables import Variables
    from ..objectives.term import Objective


class AtMost:
    """Limited terms of the objective do not exceed their limits."""

    code: ClassVar[str] = "PW611"

    def subjects(self, problem: Problem) -> Iterable[Cap]:
        return problem.caps

    def encode(self, problem: Problem, cap: Cap, variables: Variables) -> None:
        amounts = [cost * term.encode(problem, variables) for term, cost in _terms(cap)]
        variables.at_most(variables.total(amounts), cap.most, f"{_names(cap)} cannot be {cap.most}")

    def check(self, problem: Problem, cap: Cap, assignment: Assignment) -> Iterator[Finding]:
        amount = sum(cost * term.value(problem, assignment) for term, cost in _terms(cap))
        if amount > cap.most:
            message = f"{_names(cap)}: {amount}, where at most {cap.most} may be"
            yield error(self.code, "", message, amount=amount - cap.most)

    def explain(self, problem: Problem, cap: Cap) -> ConflictClause:
        return ConflictClause(f"{_names(cap)} may be at most {cap.most}")


def _terms(cap: Cap) -> list[tuple[Objective, int]]:
    """Return the limited terms with unit costs.

    The terms are loaded late: a problem without limits needs none of them.
    """
    from ..objectives import OBJECTIVES

    costs = dict(cap.terms)
    return [(term, costs[term.name]) for term in OBJECTIVES if term.name in costs]


def _names(cap: Cap) -> str:
    return " + ".join(name if cost == 1 else f"{cost} x {name}" for name, cost in cap.terms)
