"""Protocol of a rule: encode for CP-SAT, check an assignment, explain the demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Iterator, Protocol, TypeVar, runtime_checkable

from ..models.component import Component, Relation
from ..models.findings.finding import Finding, error, warning
from ..models.findings.span import Span
from ..models.placements.assignment import Assignment
from ..models.problem import ConflictClause, Demand, Problem
from .wording import demanding, name_framework

if TYPE_CHECKING:
    from .model.variables import Variables
    from .rank_fixes import RankFix

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

    def repairs(self, problem: Problem, subject: Any) -> Iterator[RankFix]:
        """Yield candidate repairs, nearest first.

        A repair is shown only after all rules have judged the result.
        """
        ...


class ComponentRule:
    """Texts of a rule about single components."""

    code: ClassVar[str]

    def fault(
        self, component: Component, message: str, place: str | Span | None, help: str, witnesses: tuple[Any, ...], amount: int, label: str = "",
        notes: tuple[str, ...] = (), is_error: bool = True,
    ) -> Finding:  # fmt: skip
        """Return the finding at a field or a place.

        A fix of the dialect replaces the help.
        """
        fix, span = component.fix(self.code, help), component.span(place) if isinstance(place, str) else place
        return (error if is_error else warning)(
            self.code, component.name, message, span, label=label, help=fix.help, edit=fix.edit, witnesses=witnesses,
            amount=amount, notes=(*notes, *fix.notes),
        )  # fmt: skip

    def clause(self, component: Component, text: str, *fields: str) -> ConflictClause:
        """Return the demand of some fields of a component in the user's words."""
        return ConflictClause(text, tuple(Demand(component.name, field, component.span(field)) for field in fields))


def largest_node(problem: Problem, component: Component) -> int:
    """Return the component's resources on the largest node, as in clauses."""
    return max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)


class RelationRule:
    """Subjects and texts of a rule about the relations of one kind."""

    code: ClassVar[str]
    kind: ClassVar[str]

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        """Return the relations of the kind."""
        return problem.find_relations(self.kind)

    def fault(
        self, problem: Problem, relation: Relation, message: str, help: str, witnesses: tuple[Any, ...], amount: int, label: str = "",
        name: str = "", notes: tuple[str, ...] = (),
    ) -> Finding:  # fmt: skip
        """Return the error of a violated relation.

        `name` is the faulty component, by default the first.
        """
        name = name or relation.components[0]
        return error(
            self.code, name, message, relation.span or problem[name].span("placement"), label=label, help=help, witnesses=witnesses,
            amount=amount, notes=(*notes, *demanding(relation)),
        )  # fmt: skip

    def clause(self, relation: Relation, text: str) -> ConflictClause:
        """Return the demand of a relation in the user's words."""
        return ConflictClause(text + name_framework(relation), (Demand("+".join(relation.components), relation.demand, relation.span),))
