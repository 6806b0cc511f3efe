"""Advice PW805: estimated memory against the memory of accelerators."""

from __future__ import annotations

from typing import ClassVar, Iterator

from ...models.findings.finding import Finding
from ...models.placements.assignment import Assignment
from ...models.problem import Problem


class EstimatedMemory:
    """Components need more memory than an accelerator has, by an estimate.

    Declared memory is used as declared; an `estimate` of the file is computed term by term.
    Components without phases are assumed to take turns: the smallest amount that they need
    together. The finding is never an error, as an estimate proves nothing. If the components fit
    but leave less than a tenth of the accelerator, the finding is a note.
    """

    code: ClassVar[str] = "PW805"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        if any(component.estimate for component in problem.components):
            from .estimated_bill import check_estimates, fits_nowhere  # loaded for estimates alone

            yield from fits_nowhere(problem, self.code)
            yield from check_estimates(problem, assignment, self.code)
