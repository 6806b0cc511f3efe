"""Rules PW608 and PW611: an answer differs from others, and stays within limits of the objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.findings.finding import Finding, error
from ...models.placements.assignment import Assignment
from ...models.problem import AMOUNT, Cap, ConflictClause, Key, Problem, Structure
from ..structure import structure_of

if TYPE_CHECKING:
    from ..model.amount import Amount
    from ..model.variables import Variables
    from ..objectives.term import Objective


class DiversityConstraint:
    """The structure of an answer differs from every excluded structure.

    Two placements have the same structure if each component has as many accelerators, is in as many
    domains of each kind, and shares as many of them with each other component. So equivalent nodes
    and racks may change places.
    """

    code: ClassVar[str] = "PW608"

    def subjects(self, problem: Problem) -> Iterable[Structure]:
        """Return the structures with this problem's components and degrees.

        An answer with other degrees differs already.
        """
        current = {component.name: component.parallel for component in problem.components} if problem.unlike else {}
        same_degrees = [
            structure for structure in problem.unlike if all(current.get(name) == degrees for name, degrees in structure.degrees)
        ]
        return [
            structure for structure in same_degrees if all(name in current for (_, *names, _), _ in structure.figures for name in names)
        ]

    def encode(self, problem: Problem, structure: Structure, variables: Variables) -> None:
        differences: list[Amount] = []
        for key, figure in structure.figures:
            amount, most = self._figure(problem, variables, structure, key)
            if isinstance(amount, int):
                differences.append(int(amount != figure))
                continue
            fewer, more = variables.boolean(f"fewer {key}"), variables.boolean(f"more {key}")
            variables.at_most(amount, most - (most - figure + 1) * fewer)
            variables.at_most((figure + 1) * more, amount)
            differences += [fewer, more]
        variables.at_most(1, variables.total(differences))

    def _figure(self, problem: Problem, variables: Variables, structure: Structure, key: Key) -> tuple[Amount, int]:
        """Return (amount behind a figure, upper bound)."""
        quantity, *names, kind = key
        bundles = [bundle for name in names if (bundle := variables.bundle(problem[name]))]
        if quantity == AMOUNT:
            return variables.accelerators(bundles[0]), problem.cluster.total(bundles[0].kind)
        peers = next(domains for domains in structure.alike if domains[0] == kind)
        met = [[variables.touches(bundle, structure.level, domain) for bundle in bundles] for domain in peers]
        return variables.total(self._all(variables, indicators) for indicators in met), len(peers)

    def _all(self, variables: Variables, present: list[Amount]) -> Amount:
        """Return 1 exactly if all amounts are 1."""
        if len(present) == 1:
            return present[0]
        both = variables.boolean("both")
        for amount in present:
            variables.at_most(both, amount)
        variables.at_most(variables.total([*present, 1 - len(present)]), both)
        return both

    def check(self, problem: Problem, structure: Structure, assignment: Assignment) -> Iterator[Finding]:
        figures = dict(structure_of(problem, assignment, structure).figures)
        if all(figures.get(key) == figure for key, figure in structure.figures):
            yield error(self.code, "", "the placement has the structure of one that is ruled out", amount=1)

    def explain(self, problem: Problem, structure: Structure) -> ConflictClause:
        return ConflictClause(f"the placement is unlike {len(problem.unlike)} others")


class AtMost:
    """Limited terms of the objective do not exceed their limits."""

    code: ClassVar[str] = "PW611"

    def subjects(self, problem: Problem) -> Iterable[Cap]:
        return problem.caps

    def encode(self, problem: Problem, cap: Cap, variables: Variables) -> None:
        amounts = [cost * term.encode(problem, variables) for term, cost in _terms(cap)]
        variables.at_most(variables.total(amounts), cap.most)

    def check(self, problem: Problem, cap: Cap, assignment: Assignment) -> Iterator[Finding]:
        amount = sum(cost * term.value(problem, assignment) for term, cost in _terms(cap))
        if amount > cap.most:
            message = f"{_names(cap)}: {amount}, where at most {cap.most} may be"
            yield error(self.code, "", message, amount=amount - cap.most)

    def explain(self, problem: Problem, cap: Cap) -> ConflictClause:
        return ConflictClause(f"{_names(cap)} may be at most {cap.most}")


def _terms(cap: Cap) -> list[tuple[Objective, int]]:
    """Return the limited terms with unit costs.

    The terms are loaded late: a problem without limits needs none of them.
    """
    from ..objectives import OBJECTIVES

    costs = dict(cap.terms)
    return [(term, costs[term.name]) for term in OBJECTIVES if term.name in costs]


def _names(cap: Cap) -> str:
    return " + ".join(name if cost == 1 else f"{cost} x {name}" for name, cost in cap.terms)
