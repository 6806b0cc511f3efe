"""Who may say of a plan that it is none, beside what was asked: the framework, of its own file with the plan written into it."""

from __future__ import annotations

from typing import Callable, Sequence

from ...models.findings.finding import Finding
from ...models.placements.plan import Plan
from ...models.problem import Problem

Refuses = Callable[[Problem, Plan], Sequence[Finding]]
"""Why the framework does not take the file with a plan of a problem written into it; nothing where it does, or where nobody knows."""


def nobody(problem: Problem, plan: Plan) -> Sequence[Finding]:
    """Refuses nothing."""
    return ()
