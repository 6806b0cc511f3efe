"""Components that share nothing or everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...mends import Mend, moved_off, moved_onto
from ...wording import demanded, lowest, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class ColocatedOrDisjoint:
    """Two components use exactly the same accelerators, or none in common; nothing between.

    Where they use the same ones they are colocated, and may (`Problem.decided`).
    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (neither collocated nor disaggregated).
    """

    code: ClassVar[str] = "PW211"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(COLOCATED_OR_DISJOINT)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Given parts are compared; each way to decide an open one is a question of its own (`Problem.alternatives`)."""
        one, other = (variables.bundle(problem[name]) for name in relation.components)
        if one is None or other is None or one is other or one.kind != other.kind:
            return
        if not (one.fixed and other.fixed):
            raise ValueError(f"whether {one.name} and {other.name} share is not decided")
        first, second = variables.layout.fixed[one], variables.layout.fixed[other]
        apart = not any(mask & second.get(node, 0) for node, mask in first.items())
        variables.require(apart or first == second, f"{one.name} and {other.name} are given together in part")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        first, second = assignment.masks(one), assignment.masks(other)
        common = {place: both for place, mask in first.items() if (both := mask & second.get(place, 0))}
        counts = [sum(mask.bit_count() for mask in masks.values()) for masks in (common, first, second)]
        if common and not counts[0] == counts[1] == counts[2]:
            (node, _), mask = min(common.items())
            message = f"{one} and {other} share {counts[0]} {plural('accelerator', counts[0])} (first: {lowest(mask)} on node {node}), but {one} has {counts[1]}"
            message += f" and {other} {counts[2]}; they must use the same ones or none in common{demanded(relation)}"
            yield error(
                self.code, other, message, relation.span or problem[other].span("placement"), label=f"{counts[0]} shared, of {counts[1]} of {one} and {counts[2]} of {other}",
                help=f"give {one} and {other} the same ranks, or ranks that do not meet", witnesses=(node, lowest(mask)), amount=counts[0],
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        return Clause(open_choice(relation.decided(COLOCATED)), (Demand(f"{one}+{other}", COLOCATED_OR_DISJOINT, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[Mend]:
        """The second moved off the first or both where the first is, as it goes with the rest; then the other way round."""
        first, second = (problem[name] for name in relation.components)
        for one, other in ((second, first), (first, second)):
            if relation.choice != COLOCATED:
                yield from moved_off(problem, one, other)
            if relation.choice != DISJOINT:
                yield from moved_onto(problem, one, other)
