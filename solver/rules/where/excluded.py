"""Rule PW303: a component stays off excluded nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...wording import nodes_called

if TYPE_CHECKING:
    from ...model.variables import Variables


class Excluded:
    """A component uses none of the nodes excluded for it."""

    code: ClassVar[str] = "PW303"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [component for component in problem.components if component.excluded]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Forbid cells with excluded nodes.

        An excluded node is never in a cell with a node that is not excluded.
        """
        bundle = variables.bundle(component)
        for cell in variables.cells if bundle else ():
            if bundle and cell.nodes[0].rank in component.excluded:
                variables.require(variables.accelerators(bundle, cell) == 0, f"{component.name} is on an excluded node")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        excluded = set(component.excluded)
        for repeat in assignment.repeats(component.name):
            astray = sorted(excluded.intersection(repeat.node_ranks))
            if not astray:
                continue
            rank = repeat.on(astray[0] - repeat.node_ranks.start)[0].ranks.start
            used_nodes = [node for ranges in assignment.node_ranges(component.name) for node in sorted(excluded.intersection(ranges))]
            more = f" ({len(used_nodes)} such nodes are used)" if len(used_nodes) > 1 else ""
            message = f"rank {rank} of {component.name} is on node {astray[0]}, which is excluded{more}"
            span = component.span("excluded") if component.runs is None else component.span("placement")
            yield error(
                self.code, component.name, message, span, label="on an excluded node" if component.runs is not None else "excluded",
                help=f"place it on other nodes, or take {astray[0]} out of `exclude`", witnesses=(rank, astray[0]), amount=len(used_nodes),
            )  # fmt: skip
            return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        usable = problem.cluster.members(component.node_groups)
        left = len(usable.difference(component.excluded))
        nodes = nodes_called(problem.cluster, component.excluded)
        prefix = (
            f"{component.name} must not use" if component.is_written("excluded") else f"the plan that was tried has {component.name} off"
        )
        text = f"{prefix} {nodes} ({left} of {len(usable)} {'is' if left == 1 else 'are'} left)"
        return ConflictClause(text, (Demand(component.name, "excluded", component.span("excluded")),))
