"""Rule PW301: a component stays on the nodes of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.findings.wording import are, plural, with_noun
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class NodeGroupRule:
    """A component uses only nodes of its node groups."""

    code: ClassVar[str] = "PW301"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if not problem.cluster.has_all(c.node_groups)]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        inside = problem.cluster.members(component.node_groups)
        bundle = variables.bundle(component)
        for cell in variables.cells if bundle else ():
            if bundle and cell.nodes[0].rank not in inside:
                variables.require(variables.accelerators(bundle, cell) == 0, f"{component.name} is outside its groups")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        inside = problem.cluster.members(component.node_groups)
        astray = [repeat for repeat in assignment.repeats(component.name) if not inside.issuperset(repeat.node_ranks)]
        outside = [run for repeat in astray for run in repeat if run.node not in inside]
        if outside:
            run, count = outside[0], sum(len(run.ranks) for run in outside)
            label = ", ".join(component.node_groups)
            message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, outside node group `{label}` ({with_noun(count, 'rank')} {are(count)})"
            yield error(
                self.code,
                component.name,
                message,
                component.span("node_group"),
                help="place it on nodes of that group, or name another group",
                witnesses=(run.ranks.start, run.node),
                amount=count,
            )

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        count = len(problem.cluster.members(component.node_groups))
        text = f"{component.name} may use only node group `{', '.join(component.node_groups)}` ({count} {plural('node', count)})"
        return ConflictClause(text, (Demand(component.name, "node_groups", component.span("node_group")),))
