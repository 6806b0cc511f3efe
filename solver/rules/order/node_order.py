"""Rule PW210: processes come in the order of their nodes, if required."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class NodeOrder:
    """In rank order, the nodes of a component's processes never go back.
    The next process has no lower node rank. The rule applies if the framework requires it.

    Source: RLinf, rlinf/scheduler/placement/flexible.py ("Placements must be sorted by node_id", at
    launch only).
    """

    code: ClassVar[str] = "PW210"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components if problem.job.capabilities.nodes_in_order else ()

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Restrict contiguous bundles to ascending nodes.

        Expansion orders the ranks of other bundles by node; a contiguous bundle follows its
        numbering.
        """
        bundle = variables.bundle(component)
        if component.runs is not None or bundle is None or not bundle.contiguous:
            return
        numbering = variables.layout.numbering(bundle)
        if bundle.fixed:
            nodes = sorted(variables.layout.fixed[bundle], key=lambda node: numbering.first.get(node, node))
            variables.require(nodes == sorted(nodes), f"{component.name} goes back to a lower node")
            return
        ranks, ascending = [stretch.node_rank for stretch in numbering.stretches], []
        # Groups on several nodes go back to a lower node if they interleave over a border.
        block = component.block if component.stride > 1 and component.group_size > 1 and bundle.unit % component.block else 1
        if ranks == sorted(ranks) and block == 1:
            return
        where = [stretch.node_rank for stretch in numbering.stretches for _ in range(stretch.count)]
        order = [first + position for first in range(component.stride) for position in range(0, block, component.stride)]
        for start, units in variables.starts(bundle):
            stop = start + units * bundle.unit
            nodes = [stretch.node_rank for stretch, _, _ in numbering.pieces(start, stop)]
            if block > 1 and not (stop - start) % block:
                nodes = [where[at + position] for at in range(start, stop, block) for position in order]
            if nodes == sorted(nodes):
                ascending.append((start, units))
        variables.start_among(bundle, ascending)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        repeats = assignment.repeats(component.name)
        for before, after in zip(repeats, repeats[1:]):
            last, run = before.node_ranks.stop - 1, after.runs[0]
            if run.node < last:
                message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, rank {before.ranks.stop - 1} on node {last}"
                fix = component.fix(self.code, "write the node groups in the order of their nodes")
                yield error(
                    self.code, component.name, message + ": RLinf refuses nodes out of order, but only at launch",
                    component.span("node_group"), label="nodes go back here", help=fix.help, edit=fix.edit,
                    witnesses=(run.ranks.start, last, run.node), amount=last - run.node,
                )  # fmt: skip
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        return ConflictClause(
            f"the processes of {component.name} come in the order of their nodes ({len(problem.cluster.nodes)} {plural('node', len(problem.cluster.nodes))})"
        )
