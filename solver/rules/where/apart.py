"""Rule PW306: components that must be apart are in different domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import APART, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...presence import common_domains
from ...wording import demanded, demanding, domain_name, level_name

if TYPE_CHECKING:
    from ...model.variables import Variables


class Apart:
    """No domain of the relation's level holds some of both components.
    A failure of the domain then hits only one of them.
    """

    code: ClassVar[str] = "PW306"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(APART)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            both = variables.present(first, relation.level, name) + variables.present(second, relation.level, name)
            variables.require(both <= 1, f"{first.name} and {second.name} are not apart")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        shared = common_domains(problem.cluster, relation.level, assignment, first_name, second_name)
        if shared:
            name, node, count = shared
            level = level_name(relation.level)
            more = f" ({count} {plural(level, count)} do)" if count > 1 else ""
            message = f"{first_name} and {second_name} must be apart, but {domain_name(relation.level, name)} holds some of both{more}"
            span = relation.span or problem[first_name].span("placement")
            yield error(
                self.code, first_name, message, span, help=f"move one of the two to another {level}", witnesses=(name, node), amount=count,
                notes=demanding(relation),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count = len(domains(problem.cluster, relation.level))
        level = level_name(relation.level)
        text = f"no {level} holds some of both {first_name} and {second_name} ({count} {plural(level, count)} in all){demanded(relation)}"
        return ConflictClause(text, (Demand(f"{first_name}+{second_name}", APART, relation.span),))
