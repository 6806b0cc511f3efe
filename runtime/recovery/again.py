"""Whether and how a launch is started again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...models.findings.finding import Unchecked
from ...models.problem import Problem
from ...models.reading import Reading
from .replanner import Search, searched

NOT_HEEDED = "where it is placed anew, what the framework of its file refuses is not known: launch the file itself, and not its plan"


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
        heeds = reading is not None and reading.again is not None
        return cls(restarts, elastic, problem, partial(searched, reading=reading), heeds)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What nobody looks at where it is placed anew; nothing where it never is."""
        return (Unchecked("framework", "", NOT_HEEDED),) if (self.restarts or self.elastic) and not self.heeds else ()


NEVER = Again()
