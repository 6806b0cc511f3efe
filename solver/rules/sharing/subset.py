"""Rule PW212: a component uses only accelerators of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import SUBSET, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...mends import RankFix, contiguous_range, fix_with_ranges
from ...wording import demanded, demanding, lowest
from ..amounts.all_placed import amount_of

if TYPE_CHECKING:
    from ...model.variables import Variables


class Subset:
    """The first component uses only accelerators of the second.

    Source: RLinf, rlinf/utils/placement.py, MultiAgentModelParallelComponentPlacement (rollout
    parts within the actor).
    """

    code: ClassVar[str] = "PW212"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [relation for relation in problem.related(SUBSET) if problem.kind(problem[relation.components[0]]) != NODE]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; pools and PW201 cover the others.

        Inside given parts a bundle has nothing else to choose from. Inside searched ones PW201
        counts everything there.
        """
        inner, outer = (variables.bundle(problem[name]) for name in relation.components)
        if inner is None or inner is outer:
            return
        if outer is None or inner.kind != outer.kind:
            variables.require(variables.accelerators(inner) == 0, f"{inner.name} and {outer and outer.name} are on unlike resources")
        elif outer.fixed:
            inner_masks, outer_masks = variables.layout.known(inner), variables.layout.fixed[outer]
            outside = any(mask & ~outer_masks.get(node, 0) for node, mask in inner_masks.items())
            variables.require(not outside, f"{inner.name} is given outside {outer.name}")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        inner, outer = relation.components
        outer_masks = assignment.masks(outer)
        outside = {place: rest for place, mask in assignment.masks(inner).items() if (rest := mask & ~outer_masks.get(place, 0))}
        if outside:
            (node, _), mask = min(outside.items())
            count = sum(mask.bit_count() for mask in outside.values())
            message = (
                f"{inner} uses {count} {plural('accelerator', count)} that {outer} does not use (first: {lowest(mask)} on node {node})"
            )
            yield error(
                self.code, inner, message, relation.span or problem[inner].span("placement"), label=f"outside {outer}",
                help=f"give {inner} only ranks of {outer}", witnesses=(node, lowest(mask)), amount=count, notes=demanding(relation),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        inner, outer = relation.components
        amount = sum(run.amount for run in problem[outer].runs or ())
        has = f"has {amount}" if problem[outer].runs is not None else f"asks for {amount_of(problem[outer])}"
        text = f"{inner} uses only accelerators of {outer}, which {has}{demanded(relation)}"
        return ConflictClause(text, (Demand(f"{inner}+{outer}", SUBSET, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the nearest range of equal size inside the second, then the overlap."""
        inner, outer = (problem[name] for name in relation.components)
        inner_range, outer_range = contiguous_range(problem, inner), contiguous_range(problem, outer)
        if inner_range is None or outer_range is None or inner.node_groups != outer.node_groups:
            return
        if len(inner_range) <= len(outer_range):
            start = min(max(inner_range.start, outer_range.start), outer_range.stop - len(inner_range))
            yield fix_with_ranges(problem, {inner.name: range(start, start + len(inner_range))})
        if overlap := range(max(inner_range.start, outer_range.start), min(inner_range.stop, outer_range.stop)):
            yield fix_with_ranges(problem, {inner.name: overlap})
