"""Rule PW203: a process runs on a single node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error, warning
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class ProcessOnOneNode:
    """All resources of one process are on one node and of one kind.

    If the framework starts an engine of its own that reaches other nodes, a given process may lie
    on several: that is slow, not an error.

    Source: RLinf, rlinf/scheduler/placement/flexible.py (one node per process, noticed only at
    launch).
    """

    code: ClassVar[str] = "PW203"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units hold whole processes of a single node."""
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            for node, mask in variables.layout.fixed[bundle].items():
                variables.require(mask.bit_count() % component.per_process == 0, f"processes of {component.name} do not fit node {node}")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        torn, mixed = dict[int, tuple[int, int]](), False
        last_rank, last_node, last_kind = -1, -1, ""
        for repeat in assignment.repeats(component.name):
            for run in repeat.runs:
                if run.ranks.start == last_rank and (run.node, run.kind) != (last_node, last_kind):
                    torn.setdefault(last_rank, (last_node, run.node))
                    mixed |= run.kind != last_kind
                last_rank, last_node, last_kind = run.ranks.stop - 1, run.node, run.kind
            last_rank, last_node = repeat.ranks.stop - 1, repeat.node_ranks.stop - 1
        if torn:
            rank, nodes = next(iter(torn.items()))
            more = f" ({len(torn)} processes do)" if len(torn) > 1 else ""
            # Searched processes never cross nodes, even if the framework allows given ranks to do
            # so.
            may = problem.job.capabilities.processes_may_cross and component.runs is not None and not mixed
            message = f"process {rank} of {component.name} spans nodes {nodes[0]} and {nodes[1]}{more}"
            message += ": slow, but not refused" if may else ""
            tell = warning if may else error
            on_nodes = problem.kind(component) == NODE
            fix = component.fix(self.code, "name one node for each process" if on_nodes else "give each process accelerators of one node")
            yield tell(
                self.code, component.name, message, component.span("placement"), label="crosses nodes",
                notes=() if may else ("a process runs on one node",), help=fix.help, edit=fix.edit, witnesses=(rank, *nodes), amount=len(torn),
            )  # fmt: skip

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        per_process = component.per_process
        largest = max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)
        text = f"a process of {component.name} needs {per_process} of one node (the largest node has {largest})"
        return ConflictClause(text, (Demand(component.name, "per_process", component.span("per_process")),) if per_process > 1 else ())
