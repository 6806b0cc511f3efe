"""Rules PW305, PW306 and PW307: components spread over domains, share none, or are near."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import APART, NEAR, Component, Relation, Spread
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...rule import ComponentRule, RelationRule
from ...stretches import amounts_in, domains_of_first
from ...wording import domain_name, level_name

if TYPE_CHECKING:
    from ...model.amount import Amount
    from ...model.variables import Variables

SpreadSubject = tuple[Component, Spread]
"""Component, and a demand to spread it."""


class SpreadOver(ComponentRule):
    """A component is in at least the demanded number of topology domains.
    No domain of the level holds more than its share of the component's groups.

    The share is a percentage of the component's groups, rounded up to a whole group. A group is a
    tensor parallel group in whole processes, or a process on nodes.
    """

    code: ClassVar[str] = "PW305"

    def subjects(self, problem: Problem) -> Iterable[SpreadSubject]:
        return [(component, spread) for component in problem.components for spread in component.spread]

    def encode(self, problem: Problem, subject: SpreadSubject, variables: Variables) -> None:
        component, spread = subject
        names = variables.domains(spread.level)
        if spread.domains > 1:
            domain_count = variables.total(variables.present(component, spread.level, name) for name in names)
            variables.require(domain_count >= spread.domains)
        if spread.percent < 100:
            size = _group(problem, component)
            amounts = [variables.count_held(component, spread.level, name) for name in names]
            groups = variables.total(amounts)
            # The share is the percentage rounded up to a whole number of groups.
            share: Amount = _share(groups, spread.percent, size) if isinstance(groups, int) else 0
            if not isinstance(groups, int):
                share = variables.integer(0, problem.room_for(component) // size + 1, f"groups of {component.name} in one {spread.level}")
                variables.require(100 * size * share >= spread.percent * groups)
                variables.require(100 * size * share <= spread.percent * groups + 100 * size - 1)
            for amount in amounts:
                variables.require(amount <= size * share)

    def check(self, problem: Problem, subject: SpreadSubject, assignment: Assignment) -> Iterator[Finding]:
        component, spread = subject
        span = spread.span or component.span("spread")
        amounts = list(amounts_in(problem.cluster, spread.level, assignment, component.name))
        count, size, level = sum(repeats for _, _, repeats in amounts), _group(problem, component), level_name(spread.level)
        if count < spread.domains > 1:
            message = f"{component.name} is in {count} {plural(level, count)}, fewer than the {spread.domains} demanded"
            advice = f"place it in more {plural(level, 2)}, or ask for {count}"
            yield self.fault(component, message, span, advice, (count,), spread.domains - count)
        share = size * _share(sum(amount * repeats for _, amount, repeats in amounts), spread.percent, size)
        name, largest = max(((name, amount) for name, amount, _ in amounts), key=lambda entry: entry[1], default=("", 0))
        if largest > share:
            of_all = sum(amount * repeats for _, amount, repeats in amounts)
            message = f"{domain_name(spread.level, name)} holds {largest} of {of_all} {_unit(problem, component)} of {component.name},"
            message += f" more than {spread.percent} % in whole groups ({share})"
            advice = f"place at least {largest - share} of them in other {plural(level, 2)}"
            yield self.fault(component, message, span, advice, (name, largest), largest - share)

    def explain(self, problem: Problem, subject: SpreadSubject) -> ConflictClause:
        component, spread = subject
        count, level = len(domains(problem.cluster, spread.level)), level_name(spread.level)
        clauses = [f"is in at least {spread.domains} {plural(level, spread.domains)}"] if spread.domains > 1 else []
        clauses += [f"has at most {spread.percent} % of its groups in one {level}"] if spread.percent < 100 else []
        text = f"{component.name} {' and '.join(clauses)} (there {'is' if count == 1 else 'are'} {count})"
        return ConflictClause(text, (Demand(component.name, f"spread over {spread.level}", spread.span or component.span("spread")),))


def _group(problem: Problem, component: Component) -> int:
    return 1 if problem.kind(component) == NODE else component.group_size


def _unit(problem: Problem, component: Component) -> str:
    return "processes" if problem.kind(component) == NODE else "accelerators"


def _share(amount: int, percent: int, size: int) -> int:
    """Return the percentage of an amount in whole groups, rounded up."""
    return -(-amount * percent // (100 * size))


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
        overlap = domains_of_first(problem.cluster, relation.level, assignment, (first_name, second_name), met=True)
        if overlap:
            name, node, count = overlap
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
        strays = domains_of_first(problem.cluster, relation.level, assignment, (first_name, second_name), met=False)
        if strays:
            name, node, count = strays
            level = level_name(relation.level)
            more = f" (so do {count} {plural(level, count)})" if count > 1 else ""
            message = f"{first_name} must be near {second_name}, but {domain_name(relation.level, name)} holds {first_name} alone{more}"
            yield self.fault(problem, relation, message, f"move {first_name} to a {level} of {second_name}", (name, node), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count, level = len(domains(problem.cluster, relation.level)), level_name(relation.level)
        text = f"every {level} that holds some of {first_name} holds some of {second_name} ({count} {plural(level, count)} in all)"
        return self.clause(relation, text)
