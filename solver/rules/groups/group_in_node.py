"""Rule PW202: a tensor parallel group stays inside a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import TP, Component
from ....models.findings.finding import Finding, error, warning
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.placements.run import Repeat
from ....models.problem import ConflictClause, Demand, Problem
from .replica_on_whole_nodes import ReplicaOnWholeNodes

if TYPE_CHECKING:
    from ...model.variables import Variables


class GroupInNode:
    """The accelerators of a tensor parallel group are on one node.

    Groups are cut from the ranks in order: ranks 0 to tp-1 are the first.

    Source: Megatron-LM, core/parallel_state.py (tp is the fastest dimension of the rank order).
    """

    code: ClassVar[str] = "PW202"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        """Return the components without a demand on the place of their tp groups.

        PW218 checks the others.
        """
        default = [c for c in problem.components if not any(keep.unit == TP for keep in c.keep)]
        return [component for component in default if component.parallel.tp > 1 and problem.kind(component) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units keep searched groups whole.

        A unit is counted in one cell and taken from one node, and no start cuts a unit.
        """
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            for node, mask in variables.layout.fixed[bundle].items():
                variables.require(mask.bit_count() % component.group_size == 0, f"groups of {component.name} do not fit node {node}")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        tp = component.parallel.tp
        cut = groups_over_nodes(tp, assignment.repeats(component.name))
        if not cut:
            return
        # A framework may let groups cross nodes: slow, but no failure. Searched groups never cross.
        may = problem.job.capabilities.groups_may_cross and component.runs is not None
        if may and problem.job.capabilities.processes_may_cross and component.per_process % tp == 0:
            return  # PW203 reports the process around the group, which crosses nodes too
        if may and problem.whole_replica(component) % tp == 0 and any(ReplicaOnWholeNodes().check(problem, component, assignment)):
            return  # PW214 reports the replica around the group
        group, nodes = next(iter(cut.items()))
        more = f" ({len(cut)} groups do)" if len(cut) > 1 else ""
        message = f"tp group {group} of {component.name} ({tp} accelerators) spans nodes {nodes[0]} and {nodes[1]}{more}"
        tell = warning if may else error
        most = max(node.count(problem.kind(component)) for node in problem.cluster.nodes)
        advice = "start each group of ranks at a multiple of tp inside a node"
        fix = component.fix(self.code, advice if tp <= most else f"a tp of at most {most} would stay on a node")
        yield tell(
            self.code, component.name, message + (": slow, but not refused" if may else ""),
            component.span("parallel") if self.code in component.fixes else component.span("placement"),
            label=f"tp {tp} crosses nodes", help=fix.help, edit=fix.edit, notes=fix.notes, witnesses=(group, *nodes), amount=len(cut),
        )  # fmt: skip

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        largest = max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)
        text = f"a tp group of {component.name} needs {component.parallel.tp} accelerators of one node (the largest node has {largest})"
        return ConflictClause(text, (Demand(component.name, "parallel", component.span("parallel")),))


def groups_over_nodes(tp: int, repeats: Iterable[Repeat]) -> dict[int, tuple[int, int]]:
    """Return group -> first two nodes, for tensor parallel groups on several nodes."""
    crossing: dict[int, tuple[int, int]] = {}
    position, before = 0, -1
    for repeat in sorted(repeats, key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        amount = sum(run.amount for run in repeat.runs)
        even = position % tp == amount % tp == 0
        for node in repeat.node_ranks if not even else ():
            if position % tp and before != node:
                crossing.setdefault(position // tp, (before, node))
            position, before = position + amount, node
        position, before = position + amount * repeat.nodes * even, repeat.node_ranks[-1]
    return crossing
