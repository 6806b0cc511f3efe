"""Components that must be apart are in different domains of the topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import APART, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...presence import in_common
from ...wording import demanded, domain_name, level_name

if TYPE_CHECKING:
    from ...model.variables import Variables


class Apart:
    """No domain of the level that a relation names holds some of both components: what fails there takes only one of them along."""

    code: ClassVar[str] = "PW306"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(APART)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        one, other = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            both = variables.present(one, relation.level, name) + variables.present(other, relation.level, name)
            variables.require(both <= 1, f"{one.name} and {other.name} are not apart")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        found = in_common(problem.cluster, relation.level, assignment, one, other)
        if found:
            name, node, count = found
            level = level_name(relation.level)
            more = f" ({count} {plural(level, count)} do)" if count > 1 else ""
            message = (
                f"{one} and {other} must be apart, but {domain_name(relation.level, name)} holds some of both{more}{demanded(relation)}"
            )
            span = relation.span or problem[one].span("placement")
            yield error(self.code, one, message, span, help=f"move one of the two to another {level}", witnesses=(name, node), amount=count)

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        count = len(domains(problem.cluster, relation.level))
        level = level_name(relation.level)
        text = f"no {level} holds some of both {one} and {other} ({count} {plural(level, count)} in all){demanded(relation)}"
        return Clause(text, (Demand(f"{one}+{other}", APART, relation.span),))
