"""Rule PW402: a component has at least as many processes as another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import NOT_FEWER, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...wording import demanded, demanding
from .all_placed import amount_of

if TYPE_CHECKING:
    from ...model.variables import Variables


class NotFewer:
    """The first component has at least as many processes as the second.

    Source: RLinf, rlinf/workers/env/env_worker.py (decoupled mode).
    """

    code: ClassVar[str] = "PW402"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(NOT_FEWER)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (variables.processes(problem[name]) for name in relation.components)
        variables.require(first >= second, f"{relation.components[0]} has too few processes")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first, second = relation.components
        few, many = assignment.world_size(first), assignment.world_size(second)
        if few < many:
            message = f"{first} has {few} {plural('process', few)}, fewer than the {many} of {second}"
            help_text = f"give {first} at least {many} {plural('process', many)}, or {second} at most {few}"
            span = relation.span or problem[first].span("placement")
            yield error(
                self.code, first, message, span, label="too few", help=help_text, witnesses=(few, many), amount=many - few,
                notes=demanding(relation),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first, second = relation.components
        amount = amount_of(problem[second])
        text = f"{first} has at least as many processes as {second}, which asks for {amount}{demanded(relation)}"
        return ConflictClause(text, (Demand(f"{first}+{second}", NOT_FEWER, relation.span),))
