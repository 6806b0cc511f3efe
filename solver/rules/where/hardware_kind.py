"""Rule PW302: a component is on the right kind of hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import ACCELERATOR, NODE
from ....models.placements.assignment import Assignment, runs_by_node_sort
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class HardwareKind:
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
        bundle = variables.bundle(component)
        if bundle and component.accelerator_model and bundle.kind == ACCELERATOR:
            for cell in variables.cells:
                if cell.nodes[0].accelerator_model != component.accelerator_model:
                    variables.require(variables.accelerators(bundle, cell) == 0, f"{component.name} is on another model")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        kind, span = problem.kind(component), component.span("placement")
        groups = problem.cluster.groups
        kinds = {kind} if kind == NODE else {groups[label].kind for label in component.node_groups}
        for run in (run for repeat in assignment.repeats(component.name) for run in repeat.runs):
            if run.kind not in kinds:
                message = f"rank {run.ranks.start} of {component.name} holds a {run.kind}, but its node groups number {kind}s"
                yield error(
                    self.code,
                    component.name,
                    message,
                    span,
                    help="name the node group of that hardware",
                    witnesses=(run.ranks.start, run.kind),
                    amount=len(run.ranks),
                )
                return
        wanted = component.accelerator_model
        if not wanted or kind != ACCELERATOR:
            return
        for run, node, _ in runs_by_node_sort(problem.cluster, assignment.repeats(component.name)):
            model = node.accelerator_model
            if model != wanted:
                message = f"rank {run.ranks.start} of {component.name} is on {model or 'a node without accelerators'}, not on {wanted}"
                span = component.span("accelerator_model")
                yield error(
                    self.code,
                    component.name,
                    message,
                    span,
                    help="place it on nodes of that model",
                    witnesses=(run.ranks.start, run.node),
                    amount=run.amount,
                )
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind, model = problem.kind(component), component.accelerator_model
        if not model:
            return ConflictClause(f"the cluster has {problem.cluster.total(kind)} resources of kind {kind}")
        have = sum(len(node.accelerators) for node in problem.cluster.nodes if node.accelerator_model == model)
        demand = Demand(component.name, "accelerator_model", component.span("accelerator_model"))
        written = component.is_written("accelerator_model")
        prefix = f"{component.name} may use only {model}" if written else f"the plan that was tried has {component.name} on {model}"
        return ConflictClause(f"{prefix} (the cluster has {have})", (demand,))
