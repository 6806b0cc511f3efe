"""Protocol of a cut."""

from __future__ import annotations

from typing import ClassVar, Protocol

from ...models.problem import Problem
from ..model.variables import Variables


class Cut(Protocol):
    """Row for a tighter bound.

    `implied` is True for a row that removes no values. It is False for dominance: the row removes
    some values but always keeps an optimum.
    """

    implied: ClassVar[bool]

    def encode(self, problem: Problem, variables: Variables) -> None:
        """Post the row to the CP-SAT model."""
        ...
