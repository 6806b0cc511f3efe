"""Protocol of a rule: encode for CP-SAT, check an assignment, explain the demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Iterator, Protocol, TypeVar, runtime_checkable

from ..models.findings.finding import Finding
from ..models.placements.assignment import Assignment
from ..models.problem import ConflictClause, Problem

if TYPE_CHECKING:
    from .mends import RankFix
    from .model.variables import Variables

S = TypeVar("S")


class Rule(Protocol[S]):
    """Rule about subjects of type S, such as a component or a relation.

    `encode` and `check` are written independently. They share only the Problem and `subjects`, so
    that each of them reveals errors of the other.
    """

    code: ClassVar[str]

    def subjects(self, problem: Problem) -> Iterable[S]:
        """Return the subjects of the rule in the problem."""
        ...

    def encode(self, problem: Problem, subject: S, variables: Variables) -> None:
        """Post the rule to the CP-SAT model."""
        ...

    def check(self, problem: Problem, subject: S, assignment: Assignment) -> Iterator[Finding]:
        """Yield violations by an assignment, with witnesses and amounts."""
        ...

    def explain(self, problem: Problem, subject: S) -> ConflictClause:
        """Return the demand in the user's words, with the rule's number about the cluster."""
        ...


@runtime_checkable
class Mending(Rule[Any], Protocol):
    """Rule with repairs for given ranks."""

    def mends(self, problem: Problem, subject: Any) -> Iterator[RankFix]:
        """Yield candidate repairs, nearest first.

        A repair is shown only after all rules have judged the result.
        """
        ...
