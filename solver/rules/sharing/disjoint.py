"""Rule PW207: disjoint components share no accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import DISJOINT, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...mends import RankFix, moved_off
from ...wording import demanded, demanding, lowest, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class Disjoint:
    """Two disjoint components have no accelerator in common."""

    code: ClassVar[str] = "PW207"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(DISJOINT)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; forbid disjoint components in one bundle or nested.

        Different bundles never overlap (PW201) unless one is within the other. A bundle inside
        given parts has none of the accelerators that it must be apart from.
        """
        first_component, second_component = (problem[name] for name in relation.components)
        first, second = variables.bundle(first_component), variables.bundle(second_component)
        if first is None or second is None:
            return
        if first is second:
            variables.require(
                variables.accelerators(first) == 0, f"{first_component.name} and {second_component.name} are colocated and disjoint"
            )
        else:
            second_masks = variables.layout.known(second)
            common = [node for node, mask in variables.layout.known(first).items() if mask & second_masks.get(node, 0)]
            variables.require(
                not (common and first.kind == second.kind), f"{first_component.name} and {second_component.name} are given together"
            )
        for inner, outer in ((first, second), (second, first)):
            if outer in variables.layout.hosts[inner] and not inner.fixed:
                variables.require(variables.accelerators(inner) == 0, f"{inner.name} is within {outer.name} and is disjoint from it")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        first, second = assignment.masks(first_name), assignment.masks(second_name)
        common = {place: mask & second.get(place, 0) for place, mask in first.items() if mask & second.get(place, 0)}
        if common:
            (node, _), mask = min(common.items())
            count = sum(mask.bit_count() for mask in common.values())
            message = f"{first_name} and {second_name} must be disjoint but share {count} {plural('accelerator', count)} (first: {lowest(mask)} on node {node})"
            yield error(
                self.code, first_name, message, relation.span, witnesses=(node, lowest(mask)), amount=count, help="move one of the two",
                notes=demanding(relation),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        text = open_choice(relation) or f"{first_name} shares no accelerator with {second_name}{demanded(relation)}"
        return ConflictClause(text, (Demand(f"{first_name}+{second_name}", relation.demand, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the first component off the second, then the reverse."""
        first, second = (problem[name] for name in relation.components)
        yield from moved_off(problem, first, second)
        yield from moved_off(problem, second, first)
