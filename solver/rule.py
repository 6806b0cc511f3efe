"""One thing that must hold, with its three faces: said to the solver, checked on an answer, explained to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Iterator, Protocol, TypeVar, runtime_checkable

from ..models.demand import Clause
from ..models.findings.finding import Finding
from ..models.placements.assignment import Assignment
from ..models.problem import Problem

if TYPE_CHECKING:
    from .mends import Mend
    from .model.variables import Variables

S = TypeVar("S")


class Rule(Protocol[S]):
    """A rule about subjects of type S: a component, a relation, a colocated set...

    `encode` and `check` are written apart and share only the Problem and `subjects`, so that one can catch the other.
    """

    code: ClassVar[str]
    packs: ClassVar[bool]
    """True if the verdict depends on *which* accelerators are used, False if the decision values alone decide it."""

    def subjects(self, problem: Problem) -> Iterable[S]:
        """Everything in the problem that the rule has something to say about."""
        ...

    def encode(self, problem: Problem, subject: S, variables: Variables) -> None:
        """Say it to the solver."""
        ...

    def check(self, problem: Problem, subject: S, assignment: Assignment) -> Iterator[Finding]:
        """Every way in which an answer breaks it, with witnesses and amounts."""
        ...

    def explain(self, problem: Problem, subject: S) -> Clause:
        """The demand in the user's words, with the rule's own number about the cluster."""
        ...


@runtime_checkable
class Mending(Rule[Any], Protocol):
    """A rule that knows other ranks for given components that break it."""

    def mends(self, problem: Problem, subject: Any) -> Iterator[Mend]:
        """Changes that might mend it, the nearest first; none is shown before all rules have judged it."""
        ...
