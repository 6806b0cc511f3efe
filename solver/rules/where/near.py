"""A component is only where another one is near."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import NEAR, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...presence import without_other
from ...wording import demanded, domain_name, level_name

if TYPE_CHECKING:
    from ...model.variables import Variables


class Near:
    """Every domain of the level that a relation names which holds some of the first component holds some of the second."""

    code: ClassVar[str] = "PW307"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(NEAR)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        one, other = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            there = variables.present(other, relation.level, name)
            variables.require(variables.present(one, relation.level, name) <= there, f"{one.name} is far from {other.name}")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        found = without_other(problem.cluster, relation.level, assignment, one, other)
        if found:
            name, node, count = found
            level = level_name(relation.level)
            more = f" (so do {count} {plural(level, count)})" if count > 1 else ""
            message = f"{one} must be near {other}, but {domain_name(relation.level, name)} holds some of {one} and none of {other}{more}{demanded(relation)}"
            span = relation.span or problem[one].span("placement")
            yield error(self.code, one, message, span, help=f"move {one} to a {level} of {other}", witnesses=(name, node), amount=count)

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        count = len(domains(problem.cluster, relation.level))
        level = level_name(relation.level)
        text = f"every {level} that holds some of {one} holds some of {other} ({count} {plural(level, count)} in all){demanded(relation)}"
        return Clause(text, (Demand(f"{one}+{other}", NEAR, relation.span),))
