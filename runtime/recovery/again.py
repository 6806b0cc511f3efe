"""Whether and how a launch is started again."""

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
    """How often a launch is started again after a loss; whether it also is where nodes join; by which question it is placed anew.

    Without a problem every component keeps its size (see question.py). `heeds`: does its search know what the framework refuses?
    """

    restarts: int = 0
    elastic: bool = False
    problem: Problem | None = None
    search: Search = searched
    heeds: bool = True

    @classmethod
    def of(cls, restarts: int, elastic: bool, problem: Problem | None, reading: Reading | None) -> Again:
        """With what the framework refuses in the file that was read, where it is known how that was."""
        heeds = reading is not None and reading.session.as_before is not None
        return cls(restarts, elastic, problem, partial(searched, reading=reading), heeds)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What nobody looks at where it is placed anew; nothing where it never is."""
        if self.heeds or not (self.restarts or self.elastic):
            return ()
        return (Unchecked("framework", "", NOT_HEEDED) if self.problem else Unchecked("plan", "", ONLY_A_PLAN),)


NEVER = Again()
