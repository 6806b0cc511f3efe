"""Memory that components need by estimates, against the memory that accelerators have."""

from __future__ import annotations

from typing import ClassVar, Iterator

from ...models.findings.finding import Finding
from ...models.placements.assignment import Assignment
from ...models.problem import Problem


class EstimatedMemory:
    """By an estimate, components need more memory of an accelerator than it has.

    What the file declares is taken as it is; what it gives an `estimate` of is estimated term by term. Components that say no phase are
    taken to take turns with others: that is the least that they need together. It is never an error, as an estimate proves nothing; where
    they fit but leave less than a tenth of the accelerator, it is a note.
    """

    code: ClassVar[str] = "PW805"

    def check(self, problem: Problem, assignment: Assignment) -> Iterator[Finding]:
        if any(component.estimate for component in problem.components):
            from .estimated_bill import fits_nowhere, judged  # files without estimates need not load what estimates

            yield from fits_nowhere(problem, self.code)
            yield from judged(problem, assignment, self.code)
