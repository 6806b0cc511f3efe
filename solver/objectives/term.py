"""Protocols of objective terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Sequence

from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


class Objective(Protocol):
    """Term of the objective: encoding, value, and a bound without a solver.

    Encoding and value must agree.
    """

    @property
    def name(self) -> str:
        """Name of the term in output."""
        ...

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """Return the term as an amount.

        Never below its value, and equal to it if minimised.
        """
        ...

    def value(self, problem: Problem, assignment: Assignment) -> int:
        """Return the term's value of an assignment."""
        ...

    def bound(self, layout: Layout) -> int:
        """Return a lower bound by counting alone."""
        ...

    def most(self, problem: Problem) -> int:
        """Return an upper bound; 0 if there is nothing to choose.

        The same for every choice of parallel degrees.
        """
        ...


@dataclass(frozen=True)
class Aggregate:
    """Count for the bound stage to branch on, such as domains of a bundle.

    Attributes
    ----------
    key : what is counted, the same for terms with the same count.
    members : indicator and capacity of each domain; the count is the sum of the indicators.
    cost : cost of one more.
    """

    key: object
    members: Sequence[tuple[Amount, int]]
    cost: int
