"""The objective stays within a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.cap import Cap
from ...models.demand import Clause
from ...models.findings.finding import Finding, error
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..objectives import OBJECTIVES

if TYPE_CHECKING:
    from ..model.variables import Variables


class AtMost:
    """Terms of the objective that are limited are no more than they may be."""

    code: ClassVar[str] = "PW611"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[Cap]:
        return problem.caps

    def encode(self, problem: Problem, cap: Cap, variables: Variables) -> None:
        costs = dict(cap.terms)
        amounts = [costs[term.name] * term.encode(problem, variables) for term in OBJECTIVES if term.name in costs]
        variables.at_most(variables.total(amounts), cap.most, f"{_names(cap)} cannot be {cap.most}")

    def check(self, problem: Problem, cap: Cap, assignment: Assignment) -> Iterator[Finding]:
        terms = {term.name: term for term in OBJECTIVES}
        found = sum(cost * terms[name].value(problem, assignment) for name, cost in cap.terms if name in terms)
        if found > cap.most:
            message = f"{_names(cap)}: {found}, where at most {cap.most} may be"
            yield error(self.code, "", message, amount=found - cap.most)

    def explain(self, problem: Problem, cap: Cap) -> Clause:
        return Clause(f"{_names(cap)} may be at most {cap.most}")


def _names(cap: Cap) -> str:
    return " + ".join(name if cost == 1 else f"{cost} x {name}" for name, cost in cap.terms)
