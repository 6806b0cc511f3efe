"""Tiers in which terms are weighed, and limits on terms by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Sequence

from ...models.cap import Cap
from ...models.findings.finding import UnusableInput, error
from ...models.placements.assignment import Assignment
from ...models.placements.plan import Term
from ...models.preference import WEIGHTED
from ...models.problem import Problem
from ...models.record import dataclass
from ...models.text.nearest import nearest
from . import OBJECTIVES
from .moves import Moves
from .preferred import Preferred
from .term import Aggregate, Objective, Tightened
from .traffic import BytesAcross

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


def cap_of(name: str, number: str) -> Cap:
    """The limit of a term, as a user writes it: `extra racks` and `2`. Raises UnusableInput for what is no term or no number."""
    names = [term.name for term in OBJECTIVES]
    if name not in names:
        close = nearest(name, names)
        advice = f"write `{close}={number}`" if close else f"write it as it is printed, such as `{names[0]}={number}`"
        raise UnusableInput([error("PW611", "", f"`{name[:80]}` is no term of the objective", help=advice)])
    if not number.isdecimal() or len(number) > 9:
        message = f"`{number[:80]}` is no number that `{name}` could be limited to"
        raise UnusableInput([error("PW611", "", message, help=f"write such as `{name}=0`")])
    return Cap(((name, 1),), int(number))


@dataclass(frozen=True)
class Tier:
    """Terms with what one of each costs, and what one of the whole tier weighs in a sum with all later ones."""

    members: tuple[tuple[Objective, int], ...]
    scale: int

    def value(self, problem: Problem, assignment: Assignment) -> int:
        """What an answer costs in this tier."""
        return sum(cost * term.value(problem, assignment) for term, cost in self.members)


def tiers(problem: Problem) -> tuple[Tier, ...]:
    """The tiers that this problem leaves any choice about, the most important first.

    Bytes are weighed together with those of the same level, or all of them if the preference is weighted. Where they stand for time,
    groups that had better lie in one domain, and those that move, decide only among answers that take no longer. They weigh the same
    whether or not components that are `colocated or disjoint` share, so that answers of both can be compared.
    """
    problem = problem.undecided
    weighed = problem.job.preference.order == WEIGHTED
    terms = [term for term in OBJECTIVES if term.most(problem)]
    if problem.job.preference.bytes_first:
        last = max((place for place, term in enumerate(terms) if isinstance(term, BytesAcross)), default=-1) + 1
        terms = sorted(terms[:last], key=lambda term: isinstance(term, (Preferred, Moves))) + terms[last:]
    groups = [list(group) for _, group in groupby(terms, lambda term: _key(term, weighed))]
    found: list[Tier] = []
    scale = 1
    for group in reversed(groups):
        members = tuple((term, _cost(problem, term, weighed)) for term in group)
        found.append(Tier(members, scale))
        scale *= 1 + sum(cost * term.most(problem) for term, cost in members)
    return tuple(reversed(found))


def _key(term: Objective, weighed: bool) -> str:
    return ("MiB" if weighed else f"MiB {term.level}") if isinstance(term, BytesAcross) else term.name


def _cost(problem: Problem, term: Objective, weighed: bool) -> int:
    return problem.job.preference.weights.get(term.level, 1) if weighed and isinstance(term, BytesAcross) else 1


def plan_terms(problem: Problem, assignment: Assignment, counted: Sequence[Sequence[int]], proved: Sequence[int]) -> tuple[Term, ...]:
    """Every term of an answer.

    Parameters
    ----------
    counted : for each tier, the bound that counting gives each of its terms.
    proved : for each tier, what is proved of its sum. Less the other terms as they are it bounds each term.
    """
    found = []
    for number, (tier, bounds, least) in enumerate(zip(tiers(problem), counted, proved)):
        values = [term.value(problem, assignment) for term, _ in tier.members]
        whole = sum(cost * value for (_, cost), value in zip(tier.members, values))
        for (term, cost), value, bound in zip(tier.members, values, bounds):
            # A term that costs nothing is bounded by counting alone.
            share = bound if not cost else value if least >= whole else -((whole - least - cost * value) // cost)
            found.append(Term(term.name, value, max(bound, min(value, share)), cost * tier.scale, number))
    return tuple(found)


def counted(problem: Problem, layout: Layout) -> tuple[tuple[int, ...], ...]:
    """For each tier, the bound that counting gives each of its terms."""
    return tuple(tuple(term.bound(layout) for term, _ in tier.members) for tier in tiers(problem))


def hold(variables: Variables, amount: Amount, value: int) -> None:
    """A tier that was searched becomes no worse while later ones are."""
    variables.at_most(amount, value)


def aggregates_of(variables: Variables, tier: Tier) -> list[Aggregate]:
    """The counts that the terms of a tier are made of, with what they cost in the tier."""
    found = []
    for term, cost in tier.members:
        for each in term.aggregates(variables.problem, variables) if isinstance(term, Tightened) else ():
            found.append(replace(each, cost=cost * each.cost))
    return found
