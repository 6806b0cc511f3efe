"""Answer of a search: a plan, or the reasons why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from .findings.finding import Finding, Unchecked
from .placements.plan import Plan
from .problem import Problem
from .record import dataclass

if TYPE_CHECKING:
    from .planning.planned import PlanningResult

IMPOSSIBLE, UNDECIDED = "impossible", "undecided"


@dataclass(frozen=True)
class Answer:
    """Result of a search.

    Attributes
    ----------
    verdict : status of the plan (``verified``, ``optimal``, ``feasible``), ``impossible`` (proved)
        or ``undecided`` (neither found nor refuted within the limit).
    how : method of the decision: ``given`` ranks, ``greedy`` meeting its bound, ``patterns`` of
        alike domains, or ``search``.
    planned : how counts and degrees were chosen, if they were chosen by time.
    splits : number of splits of accelerators among open counts of which only evenness chose this
        one; 0 if there is no choice, or if the number is unknown.
    """

    verdict: str
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    how: str = ""
    unchecked: tuple[Unchecked, ...] = ()
    planned: PlanningResult | None = None
    splits: int = 0


Solve = Callable[[Problem], Answer]
"""Solver of a problem, with recursion on smaller problems."""
Validator = Callable[[Problem, Plan], Sequence[Finding]]
"""The framework's findings for a problem and a plan; empty if accepted or unknown."""


def accept_all(problem: Problem, plan: Plan) -> Sequence[Finding]:
    """Accept every plan."""
    return ()
