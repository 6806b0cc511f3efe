"""Conditions and means of a restart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...models.findings.finding import Unchecked
from ...models.problem import Problem
from ...models.reading import Reading
from .replanner import Search, searched

ONLY_A_PLAN = "where it is placed anew, no more is kept than sizes and who shares accelerators, and no framework is asked: launch the plan's file itself"
NOT_HEEDED = "where it is placed anew, what a framework would refuse is not known: a framework's own file is launched with its `reading`"


@dataclass(frozen=True, slots=True)
class Again:
    """Restart policy: allowed restarts after a loss, growth, and the problem for re-placement.

    Without a problem every component keeps its size (see question.py). `heeds`: True if the search
    knows what the framework refuses.
    """

    restarts: int = 0
    elastic: bool = False
    problem: Problem | None = None
    search: Search = searched
    heeds: bool = True

    @classmethod
    def of(cls, restarts: int, elastic: bool, problem: Problem | None, reading: Reading | None) -> Again:
        """Build the policy, with the framework's refusals if reading options are known."""
        heeds = reading is not None and reading.session.as_before is not None
        return cls(restarts, elastic, problem, partial(searched, reading=reading), heeds)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Checks omitted by re-placement; empty if there is none."""
        if self.heeds or not (self.restarts or self.elastic):
            return ()
        return (Unchecked("framework", "", NOT_HEEDED) if self.problem else Unchecked("plan", "", ONLY_A_PLAN),)


NEVER = Again()
