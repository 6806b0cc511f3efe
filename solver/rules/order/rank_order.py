"""Rules PW206 and PW210: ranks interleave by a stride, and follow the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment, seats
from ....models.problem import ConflictClause, Problem
from ...rule import ComponentRule, largest_node

if TYPE_CHECKING:
    from ...model.variables import Variables


class Strided(ComponentRule):
    """The groups of a contiguous component interleave in blocks of stride x group size.
    Group j of a block holds every stride-th rank.

    Source: RLinf, rlinf/scheduler/placement/packed.py (num_hardware_per_process and stride).
    """

    code: ClassVar[str] = "PW206"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.contiguous and c.stride > 1]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts to whole blocks on every node.

        A unit of a searched bundle is a whole block, and expansion interleaves it.
        """
        variables.require_multiples(component, component.unit)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        first = problem.cluster.numbering(problem.range_in(component)).first
        resources = [seat for _, process_seats in seats(assignment.of(component.name)) for seat, _, _ in process_seats]
        if any(node not in first for node, _ in resources):
            return  # PW205 reports it
        ranks = [first[node] + index for node, index in resources]
        size, stride = component.group_size, component.stride
        start = min(ranks, default=0)
        for position, rank in enumerate(ranks):
            block, offset = divmod(position, size * stride)
            target = start + block * size * stride + offset // size + offset % size * stride
            if rank != target:
                message = f"accelerator {position % size} of group {position // size} of {component.name} is rank {rank}"
                message += f", with stride {stride} it must be {target}"
                advice = f"use whole blocks of {size * stride} ranks, or drop `stride`"
                yield self.fault(component, message, "stride", advice, (position, rank), 1)
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        text = f"{component.name} interleaves {component.stride} groups in blocks of {component.unit} (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, "stride")


class NodeOrder(ComponentRule):
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
            variables.require(nodes == sorted(nodes))
            return
        ranks, ascending = [stretch.node_rank for stretch in numbering.stretches], []
        # Groups on several nodes go back to a lower node if they interleave over a border.
        block = component.block if component.stride > 1 and component.group_size > 1 and bundle.unit % component.block else 1
        if ranks == sorted(ranks) and block == 1:
            return
        node_at = [stretch.node_rank for stretch in numbering.stretches for _ in range(stretch.count)]
        order = [first + position for first in range(component.stride) for position in range(0, block, component.stride)]
        for start, units in variables.range_of(bundle).starts:
            stop = start + units * bundle.unit
            nodes = [stretch.node_rank for stretch, _, _ in numbering.pieces(start, stop)]
            if block > 1 and not (stop - start) % block:
                nodes = [node_at[at + position] for at in range(start, stop, block) for position in order]
            if nodes == sorted(nodes):
                ascending.append((start, units))
        variables.range_of(bundle).only(ascending)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        repeats = assignment.repeats(component.name)
        for before, after in zip(repeats, repeats[1:]):
            last, run = before.node_ranks.stop - 1, after.runs[0]
            if run.node < last:
                message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, rank {before.ranks.stop - 1} on node {last}"
                message += ": RLinf refuses nodes out of order, but only at launch"
                advice, witnesses = "write the node groups in the order of their nodes", (run.ranks.start, last, run.node)
                yield self.fault(component, message, "node_group", advice, witnesses, last - run.node, "nodes go back here")
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        return ConflictClause(
            f"the processes of {component.name} come in the order of their nodes ({len(problem.cluster.nodes)} {plural('node', len(problem.cluster.nodes))})"
        )
