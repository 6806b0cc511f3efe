"""Rule PW205: a contiguous component is a solid range of ranks."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Mapping

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.placements.run import Run
from ....models.problem import ConflictClause, Problem
from ....models.sharing import given_part
from ...rule import ComponentRule
from ...stretches import extent
from .in_order import solid

if TYPE_CHECKING:
    from ...model.variables import Variables


class Contiguous(ComponentRule):
    """A contiguous component is one solid range in its node groups' numbering.
    Its ranks ascend there, unless it allows any order.

    Source: RLinf, rlinf/utils/placement.py (model-parallel components must be continuous).
    """

    code: ClassVar[str] = "PW205"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.contiguous and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; a searched bundle has a start instead of counts."""
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            numbering = problem.cluster.numbering(problem.range_in(component))
            is_solid = solid(variables.layout.fixed[bundle], numbering) is not None
            variables.require(is_solid)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        first = problem.cluster.numbering(problem.range_in(component)).first
        masks = {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask}
        span = component.span("placement")
        strays = [node for node in masks if node not in first]
        if strays:
            message = f"{component.name} is on node {strays[0]}, which its node groups do not number"
            advice = "name the node groups that it may use"
            yield error(self.code, component.name, message, span, help=advice, witnesses=(strays[0],), amount=len(strays))
        if strays or not masks:
            return
        low, high = extent(first, masks)
        count = sum(mask.bit_count() for mask in masks.values())
        if count != high - low:
            message = f"{component.name} uses {count} of the ranks {low}-{high - 1}, not one solid range"
            advice = f"write one range such as `{low}-{low + count - 1}`"
            advice += ", or drop `contiguous`" if "contiguous" in component.spans else ""
            yield self.fault(component, message, "placement", advice, (low, high - 1), high - low - count)
        if component.any_order:
            return
        rank = _goes_back(assignment.of(component.name), first, low, component.unit)
        if rank is not None:
            message = f"rank {rank} of {component.name} comes before lower ranks in its range"
            yield error(self.code, component.name, message, span, help="write the ranks in ascending order", witnesses=(rank,), amount=1)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        longest, ranks = _longest_free(problem, component), plural("rank", component.least)
        text = f"{component.name} must be one solid range of {component.least} {ranks} (the longest free range has {longest})"
        return self.clause(component, text, "contiguous")


def _goes_back(runs: Iterable[Run], first: Mapping[int, int], low: int, unit: int) -> int | None:
    """Return the first process that goes back to an earlier block; None without any.

    Blocks are counted from `low`.
    """
    before = 0
    for run in runs:
        ascends = run.step > 0 and run.pitch > (run.each - 1) * run.step
        for rank in (run.ranks[0], run.ranks[-1]) if ascends else run.ranks:
            for index in run.list_held(rank):
                block = (first[run.node] + index - low) // unit
                if block < before:
                    return rank
                before = block
    return None


def _longest_free(problem: Problem, component: Component) -> int:
    """Return the length of the longest free solid range of a component's numbering.

    Resources of other jobs, and of given components without a relation to this one, are not free.
    """
    akin = {name for relation in problem.job.relations if component.name in relation.components for name in relation.components}
    kind, masks = problem.kind(component), dict[int, int]()
    for run in (run for peer in given_part(problem).components if peer.name not in akin for run in peer.runs or () if run.kind == kind):
        masks[run.node] = masks.get(run.node, 0) | run.mask
    free: list[bool] = []
    for stretch in problem.cluster.numbering(problem.range_in(component)).stretches:
        mask = problem.cluster.nodes[stretch.node_rank].free(kind) & ~masks.get(stretch.node_rank, 0)
        free += [bool(mask >> index & 1) for index in range(stretch.count)]
    return max((len(list(same)) for is_free, same in groupby(free) if is_free), default=0)
