"""Term of the objective, and amounts that are made once for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, Protocol, Sequence, runtime_checkable
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
    """One term of what is minimised, in two faces that must agree, and a bound that needs no solver."""

    @property
    def name(self) -> str:
        """What is counted, as it is printed."""
        ...

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """The term as the solver sees it: never below its value, and equal to it where it is minimised."""
        ...

    def value(self, problem: Problem, assignment: Assignment) -> int:
        """The term of an answer."""
        ...

    def bound(self, layout: Layout) -> int:
        """What no answer can be below, by counting alone."""
        ...

    def most(self, problem: Problem) -> int:
        """What no answer can be above; the same for every choice of parallel degrees. 0 if there is nothing to choose."""
        ...


@dataclass(frozen=True)
class Aggregate:
    """A count that the bound stage branches on, such as the domains of a bundle.

    Attributes
    ----------
    key : what is counted, the same for terms that count the same.
    members : for each domain its indicator, and how much it can hold: the count is their sum.
    cost : what one more of it costs.
    """

    key: object
    members: Sequence[tuple[Amount, int]]
    cost: int


@runtime_checkable
class Tightened(Objective, Protocol):
    """A term whose linear relaxation is weak without rows of its own."""

    def rows(self, problem: Problem, variables: Variables) -> None:
        """Post rows that remove no answer: every indicator that carries weight is held by all the load that implies it."""
        ...

    def aggregates(self, problem: Problem, variables: Variables) -> Iterator[Aggregate]:
        """The counts that its value is made of."""
        ...


def once(variables: Variables, key: object, make: Callable[[], Amount]) -> Amount:
    """What `make` gives, made when the key is first asked for in this model."""
    made = _MADE.setdefault(variables, {})
    if key not in made:
        made[key] = make()
    return made[key]
