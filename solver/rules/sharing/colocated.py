"""Components that are colocated use the same accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import COLOCATED, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...mends import Mend, moved_onto
from ...wording import demanded, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class Colocated:
    """Two components that are colocated use exactly the same accelerators."""

    code: ClassVar[str] = "PW204"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(COLOCATED)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """They are one bundle, so their places are the same variables; only given parts can differ, also through others between them."""
        given_alike(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        first, second = assignment.masks(one), assignment.masks(other)
        if first == second:
            return
        differ = {place: first.get(place, 0) ^ second.get(place, 0) for place in sorted(first.keys() | second.keys())}
        count = sum(mask.bit_count() for mask in differ.values())
        if count:
            node = next(node for (node, _), mask in differ.items() if mask)
            message = f"{one} and {other} are colocated but differ in {count} {plural('accelerator', count)}"
            message += f" (first on node {node}){demanded(relation)}"
            help_text = "give both the same ranks" + ("" if relation.reason else f", or drop `colocate_with: {other}`")
            span = relation.span or problem[one].span("placement")
            yield error(self.code, one, message, span, help=help_text, witnesses=(node,), amount=count)

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        text = open_choice(relation) or f"{one} uses the accelerators of {other}{demanded(relation)}"
        return Clause(text, (Demand(f"{one}+{other}", relation.demand, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[Mend]:
        """Where the framework demands it: the first where the second is; else the other way round."""
        if not relation.reason:
            return
        first, second = (problem[name] for name in relation.components)
        for one, other in ((first, second), (second, first)):
            yield from moved_onto(problem, one, other)


def given_alike(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Of components on the same accelerators, those whose ranks are given are given the same ones."""
    for component in (problem[name] for name in relation.components):
        bundle = variables.bundle(component)
        if bundle and component.runs is not None:
            held = _union({(run.node, run.mask) for run in component.runs if run.mask})
            variables.require(held == variables.layout.fixed[bundle], f"{bundle.name} are given apart")


def in_one_order(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Of components whose ranks lie upon each other: they are one bundle, and nothing is placed where no order of ranks suits all of it."""
    given_alike(problem, relation, variables)
    bundle = variables.bundle(problem[relation.components[0]])
    if bundle and not variables.can_be_seated(bundle):
        variables.require(variables.accelerators(bundle) == 0, f"no order of ranks suits all of {bundle.name}")


def _union(pairs: set[tuple[int, int]]) -> dict[int, int]:
    held: dict[int, int] = {}
    for node, mask in pairs:
        held[node] = held.get(node, 0) | mask
    return held
