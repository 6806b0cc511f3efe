"""Rule PW204: colocated components use the same accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import COLOCATED, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...mends import RankFix, moved_onto
from ...wording import demanded, demanding, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class Colocated:
    """Two colocated components use exactly the same accelerators."""

    code: ClassVar[str] = "PW204"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(COLOCATED)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; searched ones are a single bundle.

        Only given parts can differ, also through components between them.
        """
        given_alike(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        first, second = assignment.masks(first_name), assignment.masks(second_name)
        if first == second:
            return
        differ = {place: first.get(place, 0) ^ second.get(place, 0) for place in sorted(first.keys() | second.keys())}
        count = sum(mask.bit_count() for mask in differ.values())
        if count:
            node = next(node for (node, _), mask in differ.items() if mask)
            message = f"{first_name} and {second_name} are colocated but differ in {count} {plural('accelerator', count)}"
            message += f" (first on node {node})"
            help_text = "give both the same ranks" + ("" if relation.reason else f", or drop `colocate_with: {second_name}`")
            span = relation.span or problem[first_name].span("placement")
            yield error(self.code, first_name, message, span, help=help_text, witnesses=(node,), amount=count, notes=demanding(relation))

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        text = open_choice(relation) or f"{first_name} uses the accelerators of {second_name}{demanded(relation)}"
        return ConflictClause(text, (Demand(f"{first_name}+{second_name}", relation.demand, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the first component on the ranks of the second, then the reverse.

        Only if the framework demands the relation.
        """
        if not relation.reason:
            return
        first, second = (problem[name] for name in relation.components)
        for moved, target in ((first, second), (second, first)):
            yield from moved_onto(problem, moved, target)


def given_alike(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Require the given ranks of the relation's components to be those of the bundle."""
    for component in (problem[name] for name in relation.components):
        bundle = variables.bundle(component)
        if bundle and component.runs is not None:
            masks = _union({(run.node, run.mask) for run in component.runs if run.mask})
            variables.require(masks == variables.layout.fixed[bundle], f"{bundle.name} are given apart")


def in_one_order(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Require an order of ranks for the whole bundle of the relation's components.

    Without such an order nothing of the bundle is placed.
    """
    given_alike(problem, relation, variables)
    bundle = variables.bundle(problem[relation.components[0]])
    if bundle and not variables.can_be_seated(bundle):
        variables.require(variables.accelerators(bundle) == 0, f"no order of ranks suits all of {bundle.name}")


def _union(pairs: set[tuple[int, int]]) -> dict[int, int]:
    masks: dict[int, int] = {}
    for node, mask in pairs:
        masks[node] = masks.get(node, 0) | mask
    return masks
