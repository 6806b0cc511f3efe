"""Whether and how a launch is started again."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.problem import Problem
from .replanner import Search, searched


@dataclass(frozen=True, slots=True)
class Again:
    """How often a launch is started again after a loss; whether it also is where nodes join; by which question it is placed anew.

    Without a problem every component keeps its size (see question.py).
    """

    restarts: int = 0
    elastic: bool = False
    problem: Problem | None = None
    search: Search = searched


NEVER = Again()
