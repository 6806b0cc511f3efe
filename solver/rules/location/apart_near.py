"""Rules PW306 and PW307: two components share no domain, or each domain of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

from ....models.component import APART, NEAR, Relation
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Problem
from ...presence import common_domains, first_only
from ...rule import RelationRule
from ...wording import domain_name, level_name

if TYPE_CHECKING:
    from ...model.variables import Variables


class Apart(RelationRule):
    """No domain of the relation's level holds some of both components.
    A failure of the domain then hits only one of them.
    """

    code, kind = "PW306", APART

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            both = variables.present(first, relation.level, name) + variables.present(second, relation.level, name)
            variables.require(both <= 1)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        shared = common_domains(problem.cluster, relation.level, assignment, first_name, second_name)
        if shared:
            name, node, count = shared
            level = level_name(relation.level)
            more = f" ({count} {plural(level, count)} do)" if count > 1 else ""
            message = f"{first_name} and {second_name} must be apart, but {domain_name(relation.level, name)} holds some of both{more}"
            yield self.fault(problem, relation, message, f"move one of the two to another {level}", (name, node), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count, level = len(domains(problem.cluster, relation.level)), level_name(relation.level)
        text = f"no {level} holds some of both {first_name} and {second_name} ({count} {plural(level, count)} in all)"
        return self.clause(relation, text)


class Near(RelationRule):
    """Every domain with some of the first component holds some of the second.
    The relation names the level of the domains.
    """

    code, kind = "PW307", NEAR

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            second_present = variables.present(second, relation.level, name)
            variables.require(variables.present(first, relation.level, name) <= second_present)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        alone = first_only(problem.cluster, relation.level, assignment, first_name, second_name)
        if alone:
            name, node, count = alone
            level = level_name(relation.level)
            more = f" (so do {count} {plural(level, count)})" if count > 1 else ""
            message = f"{first_name} must be near {second_name}, but {domain_name(relation.level, name)} holds {first_name} alone{more}"
            yield self.fault(problem, relation, message, f"move {first_name} to a {level} of {second_name}", (name, node), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count, level = len(domains(problem.cluster, relation.level)), level_name(relation.level)
        text = f"every {level} that holds some of {first_name} holds some of {second_name} ({count} {plural(level, count)} in all)"
        return self.clause(relation, text)
