"""Rules PW209 and PW402: the demanded amounts are placed, and one is not below another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ....models.component import NOT_FEWER, UNBOUNDED, Component, Relation
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.node_group import ACCELERATOR, NODE
from ....models.placements.assignment import Assignment
from ....models.placements.run import Repeat
from ....models.problem import AMOUNT, ConflictClause, Problem
from ....models.quantity import nearest, write_counts
from ...rule import ComponentRule, RelationRule

if TYPE_CHECKING:
    from ...model.variables import Variables


class AllPlaced(ComponentRule):
    """Every demanded process is placed once, and no further processes are."""

    code: ClassVar[str] = "PW209"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        bundle = variables.bundle(component)
        amount = variables.accelerators(bundle) if bundle else variables.processes(component)
        variables.require(amount >= component.least)
        variables.require(amount <= component.most)
        if component.counts and component.least < component.most:
            most = amount if isinstance(amount, int) else problem.room_for(component)
            counts = (count for low, high in component.counts for count in range(low, min(high, most) + 1))
            variables.among(amount, counts)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        next_rank = 0
        for start, stop in sorted((ranks.start, ranks.stop) for ranks in _solid(assignment.repeats(component.name))):
            if start > next_rank:
                message = f"ranks {next_rank}-{start - 1} of {component.name} have no place"
                yield self.fault(component, message, AMOUNT, "place every rank", (next_rank,), start - next_rank)
            next_rank = max(next_rank, stop)
        nodes = problem.kind(component) == NODE
        amount = next_rank if nodes else next_rank * component.per_process
        if not component.may_have(amount):
            unit = _unit(problem.kind(component))
            target = nearest(component.counts or ((component.least, component.most),), amount)
            short = target - amount
            message = f"{component.name} asks for {format_demand(component, unit)}, {amount} are placed"
            advice = f"place {target}, or ask for {amount}"
            yield self.fault(component, message, AMOUNT, advice, (amount,), short)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind = problem.kind(component)
        have = "" if kind == NODE else f" (the cluster has {problem.cluster.total(kind)})"
        text = f"{component.name} asks for {format_demand(component, _unit(kind))}{have}"
        return self.clause(component, text, AMOUNT)


def _solid(repeats: Sequence[Repeat]) -> Iterator[range]:
    """Yield rank ranges without holes that together cover all ranks."""
    for repeat in repeats:
        yield from [repeat.ranks] if repeat.nodes > 1 else [run.ranks for run in repeat.runs]


def _unit(kind: str) -> str:
    """Return the unit of an amount.

    `accelerator`, `process` on nodes, or hardware such as `Franka`.
    """
    return {NODE: "process", ACCELERATOR: "accelerator"}.get(kind, kind)


def format_demand(component: Component, unit: str) -> str:
    """Return the demanded amount and its unit as text.

    `1 accelerator`, `1-8 accelerators`, `2 or 4 accelerators`, or `at least 1 accelerator`.
    """
    return f"{amount_of(component)} {plural(unit, component.least if component.most >= UNBOUNDED else component.most)}"


def amount_of(component: Component) -> str:
    """Return the demanded amount as text.

    `16`, `8-32`, `2, 4 or 8`, or `at least 8`.
    """
    if component.most >= UNBOUNDED:
        return f"at least {component.least}"
    if component.least == component.most:
        return str(component.least)
    return write_counts(component.counts or ((component.least, component.most),))


class NotFewer(RelationRule):
    """The first component has at least as many processes as the second.

    Source: RLinf, rlinf/workers/env/env_worker.py (decoupled mode).
    """

    code, kind = "PW402", NOT_FEWER

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (variables.processes(problem[name]) for name in relation.components)
        variables.require(first >= second)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first, second = relation.components
        few, many = assignment.world_size(first), assignment.world_size(second)
        if few < many:
            message = f"{first} has {few} {plural('process', few)}, fewer than the {many} of {second}"
            help_text = f"give {first} at least {many} {plural('process', many)}, or {second} at most {few}"
            yield self.fault(problem, relation, message, help_text, (few, many), many - few, label="too few")

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first, second = relation.components
        amount = amount_of(problem[second])
        return self.clause(relation, f"{first} has at least as many processes as {second}, which asks for {amount}")
