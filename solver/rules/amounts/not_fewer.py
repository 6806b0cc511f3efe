"""A component has at least as many processes as another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import NOT_FEWER, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...wording import demanded
from .all_placed import amount_of

if TYPE_CHECKING:
    from ...model.variables import Variables


class NotFewer:
    """The first component has at least as many processes as the second.

    Source: RLinf, rlinf/workers/env/env_worker.py (decoupled mode).
    """

    code: ClassVar[str] = "PW402"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return problem.related(NOT_FEWER)

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        one, other = (variables.processes(problem[name]) for name in relation.components)
        variables.require(one >= other, f"{relation.components[0]} has too few processes")

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        few, many = assignment.world_size(one), assignment.world_size(other)
        if few < many:
            message = f"{one} has {few} {plural('process', few)} and {other} {many}; {one} must have at least as many{demanded(relation)}"
            help_text = f"give {one} at least {many} {plural('process', many)}, or {other} at most {few}"
            span = relation.span or problem[one].span("placement")
            yield error(self.code, one, message, span, label="too few", help=help_text, witnesses=(few, many), amount=many - few)

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        asked = amount_of(problem[other])
        text = f"{one} has at least as many processes as {other}, which asks for {asked}{demanded(relation)}"
        return Clause(text, (Demand(f"{one}+{other}", NOT_FEWER, relation.span),))
