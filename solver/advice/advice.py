"""What advice is."""

from __future__ import annotations

from typing import ClassVar, Iterator, Protocol

from ...models.findings.finding import Finding
from ...models.placements.assignment import Assignment
from ...models.problem import Problem


class Advice(Protocol):
    """Something that no framework refuses and few people mean. It binds nobody: the search does not know it."""

    code: ClassVar[str]

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        """Warnings and notes about an answer that all rules accept."""
        ...
