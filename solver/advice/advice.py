"""Protocol of advice."""

from __future__ import annotations

from typing import ClassVar, Iterator, Protocol

from ...models.findings.finding import Finding
from ...models.placements.assignment import Assignment
from ...models.problem import Problem


class Advice(Protocol):
    """Check for a legal but probably unintended placement. The search ignores advice."""

    code: ClassVar[str]

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        """Yield warnings and notes about an assignment that passes all rules."""
        ...
