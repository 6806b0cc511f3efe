"""Protocols of objective terms, and amounts built once per model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Protocol, Sequence
from weakref import WeakKeyDictionary

from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


_MADE: WeakKeyDictionary[Variables, dict[object, Amount]] = WeakKeyDictionary()


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


def once(variables: Variables, key: object, make: Callable[[], Amount]) -> Amount:
    """Return `make()`, evaluated once per key and model."""
    made = _MADE.setdefault(variables, {})
    if key not in made:
        made[key] = make()
    return made[key]
