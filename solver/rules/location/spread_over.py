"""Rule PW305: a component spreads over failure domains, within its share of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component, Spread
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.machines.topology import domains
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...presence import amounts_in
from ...rule import ComponentRule
from ...wording import domain_name, level_name

if TYPE_CHECKING:
    from ...model.amount import Amount
    from ...model.variables import Variables

Asked = tuple[Component, Spread]
"""Component, and a demand to spread it."""


class SpreadOver(ComponentRule):
    """A component is in at least the demanded number of topology domains.
    No domain of the level holds more than its share of the component's groups.

    The share is a percentage of the component's groups, rounded up to a whole group. A group is a
    tensor parallel group in whole processes, or a process on nodes.
    """

    code: ClassVar[str] = "PW305"

    def subjects(self, problem: Problem) -> Iterable[Asked]:
        return [(component, spread) for component in problem.components for spread in component.spread]

    def encode(self, problem: Problem, asked: Asked, variables: Variables) -> None:
        component, spread = asked
        names = variables.domains(spread.level)
        if spread.domains > 1:
            seen = variables.total(variables.present(component, spread.level, name) for name in names)
            variables.require(seen >= spread.domains)
        if spread.percent < 100:
            size = _group(problem, component)
            amounts = [variables.held(component, spread.level, name) for name in names]
            groups = variables.total(amounts)
            # The share is the percentage rounded up to a whole number of groups.
            share: Amount = _share(groups, spread.percent, size) if isinstance(groups, int) else 0
            if not isinstance(groups, int):
                share = variables.integer(0, problem.room_for(component) // size + 1, f"groups of {component.name} in one {spread.level}")
                variables.require(100 * size * share >= spread.percent * groups)
                variables.require(100 * size * share <= spread.percent * groups + 100 * size - 1)
            for amount in amounts:
                variables.require(amount <= size * share)

    def check(self, problem: Problem, asked: Asked, assignment: Assignment) -> Iterator[Finding]:
        component, spread = asked
        span = spread.span or component.span("spread")
        amounts = list(amounts_in(problem.cluster, spread.level, assignment, component.name))
        count, size, level = sum(alike for _, _, alike in amounts), _group(problem, component), level_name(spread.level)
        if count < spread.domains > 1:
            message = f"{component.name} is in {count} {plural(level, count)}, fewer than the {spread.domains} demanded"
            advice = f"place it in more {plural(level, 2)}, or ask for {count}"
            yield self.fault(component, message, span, advice, (count,), spread.domains - count)
        share = size * _share(sum(amount * alike for _, amount, alike in amounts), spread.percent, size)
        name, largest = max(((name, amount) for name, amount, _ in amounts), key=lambda entry: entry[1], default=("", 0))
        if largest > share:
            of_all = sum(amount * alike for _, amount, alike in amounts)
            message = f"{domain_name(spread.level, name)} holds {largest} of {of_all} {_unit(problem, component)} of {component.name},"
            message += f" more than {spread.percent} % in whole groups ({share})"
            advice = f"place at least {largest - share} of them in other {plural(level, 2)}"
            yield self.fault(component, message, span, advice, (name, largest), largest - share)

    def explain(self, problem: Problem, asked: Asked) -> ConflictClause:
        component, spread = asked
        count, level = len(domains(problem.cluster, spread.level)), level_name(spread.level)
        parts = [f"is in at least {spread.domains} {plural(level, spread.domains)}"] if spread.domains > 1 else []
        parts += [f"has at most {spread.percent} % of its groups in one {level}"] if spread.percent < 100 else []
        text = f"{component.name} {' and '.join(parts)} (there {'is' if count == 1 else 'are'} {count})"
        return ConflictClause(text, (Demand(component.name, f"spread over {spread.level}", spread.span or component.span("spread")),))


def _group(problem: Problem, component: Component) -> int:
    return 1 if problem.kind(component) == NODE else component.group_size


def _unit(problem: Problem, component: Component) -> str:
    return "processes" if problem.kind(component) == NODE else "accelerators"


def _share(amount: int, percent: int, size: int) -> int:
    """Return the percentage of an amount in whole groups, rounded up."""
    return -(-amount * percent // (100 * size))
