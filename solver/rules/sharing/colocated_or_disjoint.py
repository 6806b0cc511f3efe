"""Rule PW211: components share nothing or everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, Relation
from ....models.findings.finding import Finding, error
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...mends import RankFix, moved_off, moved_onto
from ...wording import demanding, lowest, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class ColocatedOrDisjoint:
    """Two components use exactly the same accelerators, or none in common.

    With the same accelerators they count as colocated (`Problem.decided`).

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (neither collocated nor
    disaggregated).
    """

    code: ClassVar[str] = "PW211"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(COLOCATED_OR_DISJOINT)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts.

        Each decision of an open choice is a problem of its own (`Problem.alternatives`).
        """
        first_bundle, second_bundle = (variables.bundle(problem[name]) for name in relation.components)
        if first_bundle is None or second_bundle is None or first_bundle is second_bundle or first_bundle.kind != second_bundle.kind:
            return
        if not (first_bundle.fixed and second_bundle.fixed):
            raise ValueError(f"whether {first_bundle.name} and {second_bundle.name} share is not decided")
        first, second = variables.layout.fixed[first_bundle], variables.layout.fixed[second_bundle]
        apart = not any(mask & second.get(node, 0) for node, mask in first.items())
        variables.require(apart or first == second, f"{first_bundle.name} and {second_bundle.name} are given together in part")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        first, second = assignment.masks(first_name), assignment.masks(second_name)
        common = {place: both for place, mask in first.items() if (both := mask & second.get(place, 0))}
        counts = [sum(mask.bit_count() for mask in masks.values()) for masks in (common, first, second)]
        if common and not counts[0] == counts[1] == counts[2]:
            (node, _), mask = min(common.items())
            message = f"{first_name} and {second_name} share {counts[0]} of their {counts[1]} and {counts[2]} accelerators (first: {lowest(mask)} on node {node})"
            yield error(
                self.code, second_name, message, relation.span or problem[second_name].span("placement"), label=f"{counts[0]} shared, of {counts[1]} of {first_name} and {counts[2]} of {second_name}",
                help=f"give {first_name} and {second_name} the same ranks, or ranks that do not meet", witnesses=(node, lowest(mask)), amount=counts[0],
                notes=("they must use the same accelerators, or none in common", *demanding(relation)),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        return ConflictClause(
            open_choice(relation.decided(COLOCATED)), (Demand(f"{first_name}+{second_name}", COLOCATED_OR_DISJOINT, relation.span),)
        )

    def mends(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the second component off or onto the first, then the reverse.

        Only moves in line with the choice of the relation.
        """
        first, second = (problem[name] for name in relation.components)
        for moved, target in ((second, first), (first, second)):
            if relation.choice != COLOCATED:
                yield from moved_off(problem, moved, target)
            if relation.choice != DISJOINT:
                yield from moved_onto(problem, moved, target)
