"""Rule PW307: a component is only in domains of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import NEAR, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...presence import first_only
from ...wording import demanded, demanding, domain_name, level_name

if TYPE_CHECKING:
    from ...model.variables import Variables


class Near:
    """Every domain with some of the first component holds some of the second.
    The relation names the level of the domains.
    """

    code: ClassVar[str] = "PW307"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(NEAR)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            second_present = variables.present(second, relation.level, name)
            variables.require(variables.present(first, relation.level, name) <= second_present, f"{first.name} is far from {second.name}")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        alone = first_only(problem.cluster, relation.level, assignment, first_name, second_name)
        if alone:
            name, node, count = alone
            level = level_name(relation.level)
            more = f" (so do {count} {plural(level, count)})" if count > 1 else ""
            message = f"{first_name} must be near {second_name}, but {domain_name(relation.level, name)} holds {first_name} alone{more}"
            span = relation.span or problem[first_name].span("placement")
            yield error(
                self.code,
                first_name,
                message,
                span,
                help=f"move {first_name} to a {level} of {second_name}",
                witnesses=(name, node),
                amount=count,
                notes=demanding(relation),
            )

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count = len(domains(problem.cluster, relation.level))
        level = level_name(relation.level)
        text = f"every {level} that holds some of {first_name} holds some of {second_name} ({count} {plural(level, count)} in all){demanded(relation)}"
        return ConflictClause(text, (Demand(f"{first_name}+{second_name}", NEAR, relation.span),))
