"""Components that are disjoint share no accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import DISJOINT, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...mends import Mend, moved_off
from ...wording import demanded, lowest, open_choice

if TYPE_CHECKING:
    from ...model.variables import Variables


class Disjoint:
    """Two components that are disjoint have no accelerator in common."""

    code: ClassVar[str] = "PW207"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(DISJOINT)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Different bundles never overlap (PW201) unless one lies within the other; given parts are compared.

        One bundle cannot be apart from itself. What lies within given parts has none of those that it must be apart from.
        """
        one, other = (problem[name] for name in relation.components)
        first, second = variables.bundle(one), variables.bundle(other)
        if first is None or second is None:
            return
        if first is second:
            variables.require(variables.accelerators(first) == 0, f"{one.name} and {other.name} are colocated and disjoint")
        else:
            theirs = variables.layout.known(second)
            common = [node for node, mask in variables.layout.known(first).items() if mask & theirs.get(node, 0)]
            variables.require(not (common and first.kind == second.kind), f"{one.name} and {other.name} are given together")
        for inner, outer in ((first, second), (second, first)):
            if outer in variables.layout.hosts[inner] and not inner.fixed:
                variables.require(variables.accelerators(inner) == 0, f"{inner.name} lies within {outer.name} and is disjoint from it")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        first, second = assignment.masks(one), assignment.masks(other)
        common = {place: mask & second.get(place, 0) for place, mask in first.items() if mask & second.get(place, 0)}
        if common:
            (node, _), mask = min(common.items())
            count = sum(mask.bit_count() for mask in common.values())
            message = f"{one} and {other} must be disjoint but share {count} {plural('accelerator', count)} (first: {lowest(mask)} on node {node})"
            message += f"; {relation.reason} demands it" if relation.reason else ""
            yield error(self.code, one, message, relation.span, witnesses=(node, lowest(mask)), amount=count, help="move one of the two")

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        text = open_choice(relation) or f"{one} shares no accelerator with {other}{demanded(relation)}"
        return Clause(text, (Demand(f"{one}+{other}", relation.demand, relation.span),))

    def mends(self, problem: Problem, relation: Relation) -> Iterator[Mend]:
        """The one moved off the other."""
        one, other = (problem[name] for name in relation.components)
        yield from moved_off(problem, one, other)
        yield from moved_off(problem, other, one)
