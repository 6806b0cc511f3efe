"""Rules PW301, PW302 and PW303: node groups, hardware and excluded nodes of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.findings.wording import are, plural, with_noun
from ....models.machines.node_group import ACCELERATOR, NODE
from ....models.placements.assignment import Assignment, runs_by_node_sort
from ....models.problem import ConflictClause, Demand, Problem
from ...rule import ComponentRule
from ...wording import nodes_called

if TYPE_CHECKING:
    from ...model.variables import Variables


class NodeGroupRule(ComponentRule):
    """A component uses only nodes of its node groups."""

    code: ClassVar[str] = "PW301"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if not problem.cluster.has_all(c.node_groups)]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        members = problem.cluster.members(component.node_groups)
        variables.exclude(component, lambda node: node.rank not in members)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        members = problem.cluster.members(component.node_groups)
        astray = [repeat for repeat in assignment.repeats(component.name) if not members.issuperset(repeat.node_ranks)]
        strays = [run for repeat in astray for run in repeat if run.node not in members]
        if strays:
            run, count = strays[0], sum(len(run.ranks) for run in strays)
            label = ", ".join(component.node_groups)
            message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, outside node group `{label}` ({with_noun(count, 'rank')} {are(count)})"
            advice = "place it on nodes of that group, or name another group"
            yield self.fault(component, message, "node_group", advice, (run.ranks.start, run.node), count)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        count = len(problem.cluster.members(component.node_groups))
        text = f"{component.name} may use only node group `{', '.join(component.node_groups)}` ({count} {plural('node', count)})"
        return ConflictClause(text, (Demand(component.name, "node_groups", component.span("node_group")),))


class HardwareKind(ComponentRule):
    """A component holds the resource kind of its node groups.
    If it names an accelerator model, it holds only accelerators of that model.
    """

    code: ClassVar[str] = "PW302"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Require the accelerator model, cell by cell.

        The kind of a searched component is that of its variables.
        """
        model = component.accelerator_model
        if model and problem.kind(component) == ACCELERATOR:
            variables.exclude(component, lambda node: node.accelerator_model != model)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        kind, groups = problem.kind(component), problem.cluster.groups
        kinds = {kind} if kind == NODE else {groups[label].kind for label in component.node_groups}
        for run in (run for repeat in assignment.repeats(component.name) for run in repeat.runs):
            if run.kind not in kinds:
                message = f"rank {run.ranks.start} of {component.name} holds a {run.kind}, but its node groups number {kind}s"
                advice = "name the node group of that hardware"
                yield self.fault(component, message, "placement", advice, (run.ranks.start, run.kind), len(run.ranks))
                return
        target = component.accelerator_model
        if not target or kind != ACCELERATOR:
            return
        for run, node, _ in runs_by_node_sort(problem.cluster, assignment.repeats(component.name)):
            model = node.accelerator_model
            if model != target:
                message = f"rank {run.ranks.start} of {component.name} is on {model or 'a node without accelerators'}, not on {target}"
                advice, witnesses = "place it on nodes of that model", (run.ranks.start, run.node)
                yield self.fault(component, message, "accelerator_model", advice, witnesses, run.amount)
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind, model = problem.kind(component), component.accelerator_model
        if not model:
            return ConflictClause(f"the cluster has {problem.cluster.total(kind)} resources of kind {kind}")
        have = sum(len(node.accelerators) for node in problem.cluster.nodes if node.accelerator_model == model)
        is_written = component.is_written("accelerator_model")
        prefix = f"{component.name} may use only {model}" if is_written else f"the plan that was tried has {component.name} on {model}"
        return self.clause(component, f"{prefix} (the cluster has {have})", "accelerator_model")


class Excluded(ComponentRule):
    """A component uses none of the nodes excluded for it."""

    code: ClassVar[str] = "PW303"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [component for component in problem.components if component.excluded]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Forbid cells with excluded nodes.

        An excluded node is never in a cell with a node that is not excluded.
        """
        variables.exclude(component, lambda node: node.rank in component.excluded)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        exclusions = set(component.excluded)
        for repeat in assignment.repeats(component.name):
            astray = sorted(exclusions.intersection(repeat.node_ranks))
            if not astray:
                continue
            rank = repeat.on(astray[0] - repeat.node_ranks.start)[0].ranks.start
            used_nodes = [node for ranges in assignment.node_ranges(component.name) for node in sorted(exclusions.intersection(ranges))]
            more = f" ({len(used_nodes)} such nodes are used)" if len(used_nodes) > 1 else ""
            message = f"rank {rank} of {component.name} is on node {astray[0]}, which is excluded{more}"
            place, label = ("excluded", "excluded") if component.runs is None else ("placement", "on an excluded node")
            advice = f"place it on other nodes, or take {astray[0]} out of `exclude`"
            yield self.fault(component, message, place, advice, (rank, astray[0]), len(used_nodes), label)
            return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        usable = problem.cluster.members(component.node_groups)
        remaining = len(usable.difference(component.excluded))
        nodes = nodes_called(problem.cluster, component.excluded)
        prefix = (
            f"{component.name} must not use" if component.is_written("excluded") else f"the plan that was tried has {component.name} off"
        )
        text = f"{prefix} {nodes} ({remaining} of {len(usable)} {'is' if remaining == 1 else 'are'} left)"
        return self.clause(component, text, "excluded")
