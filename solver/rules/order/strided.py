"""Rule PW206: groups interleave by the stride."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.placements.assignment import Assignment, seats
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class Strided:
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
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            for node, mask in variables.layout.fixed[bundle].items():
                variables.require(mask.bit_count() % component.unit == 0, f"blocks of {component.name} do not fit node {node}")

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        first = problem.cluster.numbering(problem.range_in(component)).first
        resources = [seat for _, process_seats in seats(assignment.of(component.name)) for seat, _, _ in process_seats]
        if any(node not in first for node, _ in resources):
            return  # PW205 reports it
        ranks = [first[node] + index for node, index in resources]
        size, stride = component.group_size, component.stride
        start = min(ranks, default=0)
        for position, rank in enumerate(ranks):
            block, inside = divmod(position, size * stride)
            expected = start + block * size * stride + inside // size + inside % size * stride
            if rank != expected:
                message = f"accelerator {position % size} of group {position // size} of {component.name} is rank {rank}"
                message += f", with stride {stride} it must be {expected}"
                yield error(
                    self.code,
                    component.name,
                    message,
                    component.span("stride"),
                    help=f"use whole blocks of {size * stride} ranks, or drop `stride`",
                    witnesses=(position, rank),
                    amount=1,
                )
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        largest = max((node.count(problem.kind(component)) for node in problem.cluster.nodes), default=0)
        text = f"{component.name} interleaves {component.stride} groups in blocks of {component.unit} (the largest node has {largest})"
        return ConflictClause(text, (Demand(component.name, "stride", component.span("stride")),))
