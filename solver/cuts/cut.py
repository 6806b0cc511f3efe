"""What a cut is."""

from __future__ import annotations

from typing import ClassVar, Protocol

from ...models.problem import Problem
from ..model.variables import Variables


class Cut(Protocol):
    """A row that makes the bound tighter.

    `implied` is True if it removes no values at all, False if it removes some but always leaves an optimum (dominance).
    """

    implied: ClassVar[bool]

    def encode(self, problem: Problem, variables: Variables) -> None:
        """Say it to the solver."""
        ...
