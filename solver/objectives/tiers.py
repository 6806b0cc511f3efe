"""Tiers of the objective, and limits on terms by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Sequence

from ...models.findings.finding import UnusableInput, error
from ...models.job import WEIGHTED
from ...models.placements.assignment import Assignment
from ...models.placements.plan import TermValue
from ...models.problem import Cap, Problem
from ...models.record import dataclass
from ...models.text.nearest import nearest
from . import OBJECTIVES
from .moves import MoveTerm
from .preferred import SplitGroups
from .term import Aggregate, Objective
from .traffic import BytesAcross, DomainTerm

if TYPE_CHECKING:
    from ..layout.layout import Layout
    from ..model.variables import Variables


def cap_of(name: str, number: str) -> Cap:
    """Return the limit of a term from user text, such as `extra racks` and `2`.

    Raises UnusableInput for an unknown term or an invalid number.
    """
    names = [term.name for term in OBJECTIVES]
    if name not in names:
        close = nearest(name, names)
        advice = f"write `{close}={number}`" if close else f"write it as it is printed, such as `{names[0]}={number}`"
        raise UnusableInput([error("PW611", "", f"`{name[:80]}` is not a term of the objective", help=advice)])
    if not number.isdecimal() or len(number) > 9:
        message = f"`{number[:80]}` is not a number that `{name}` could be limited to"
        raise UnusableInput([error("PW611", "", message, help=f"write such as `{name}=0`")])
    return Cap(((name, 1),), int(number))


@dataclass(frozen=True)
class Tier:
    """Terms weighed together, with unit costs and the scale of the tier.

    `scale` is the weight of one unit of the tier in a sum with all later tiers.
    """

    members: tuple[tuple[Objective, int], ...]
    scale: int

    def value(self, problem: Problem, assignment: Assignment) -> int:
        """Return the cost of an assignment in the tier."""
        return self.weigh(self.values(problem, assignment))

    def values(self, problem: Problem, assignment: Assignment) -> tuple[int, ...]:
        """Return the value of each term."""
        return tuple(term.value(problem, assignment) for term, _ in self.members)

    def weigh(self, values: Sequence[int]) -> int:
        """Return the cost of the terms' values."""
        return sum(cost * value for (_, cost), value in zip(self.members, values))


def tiers(problem: Problem) -> tuple[Tier, ...]:
    """Return the tiers with a choice left, most important first.

    Bytes are weighed with those of the same level, or all together if the preference is weighted.
    If bytes stand for time, groups better kept in one domain and groups moved decide only among
    answers that take no longer. The tiers are the same whether or not `colocated or disjoint`
    components share, so that answers of both kinds can be compared.
    """
    problem = problem.undecided
    is_weighted = problem.job.preference.order == WEIGHTED
    terms = [term for term in OBJECTIVES if term.most(problem)]
    if problem.job.preference.bytes_first:
        last = max((place for place, term in enumerate(terms) if isinstance(term, BytesAcross)), default=-1) + 1
        terms = sorted(terms[:last], key=lambda term: isinstance(term, (SplitGroups, MoveTerm))) + terms[last:]
    groups = [list(group) for _, group in groupby(terms, lambda term: _key(term, is_weighted))]
    reversed_tiers: list[Tier] = []
    scale = 1
    for group in reversed(groups):
        members = tuple((term, _cost(problem, term, is_weighted)) for term in group)
        reversed_tiers.append(Tier(members, scale))
        scale *= 1 + sum(cost * term.most(problem) for term, cost in members)
    return tuple(reversed(reversed_tiers))


def _key(term: Objective, is_weighted: bool) -> str:
    return ("MiB" if is_weighted else f"MiB {term.level}") if isinstance(term, BytesAcross) else term.name


def _cost(problem: Problem, term: Objective, is_weighted: bool) -> int:
    return problem.job.preference.weights.get(term.level, 1) if is_weighted and isinstance(term, BytesAcross) else 1


def plan_terms(
    every: Sequence[Tier], term_values: Sequence[Sequence[int]], term_bounds: Sequence[Sequence[int]], tier_bounds: Sequence[int]
) -> tuple[TermValue, ...]:
    """Return every term of an answer with a bound.

    Parameters
    ----------
    term_values : values of the terms, per tier.
    term_bounds : bounds of the terms by counting, per tier.
    tier_bounds : proved bound of the sum, per tier. Less the values of the other terms, it bounds a
        term.
    """
    terms = []
    for number, (tier, values, bounds, tier_bound) in enumerate(zip(every, term_values, term_bounds, tier_bounds)):
        whole = tier.weigh(values)
        for (term, cost), value, bound in zip(tier.members, values, bounds):
            # A term of cost 0 is bounded by counting alone.
            share = bound if not cost else value if tier_bound >= whole else -((whole - tier_bound - cost * value) // cost)
            terms.append(TermValue(term.name, value, max(bound, min(value, share)), cost * tier.scale, number))
    return tuple(terms)


def bound_by_counting(every: Sequence[Tier], layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Return the bounds of the terms by counting, per tier."""
    return tuple(tuple(term.bound(layout) for term, _ in tier.members) for tier in every)


def aggregates_of(variables: Variables, tier: Tier) -> list[Aggregate]:
    """Return the aggregates of a tier's terms, with costs in the tier."""
    aggregates = []
    for term, cost in tier.members:
        for aggregate in term.aggregates(variables.problem, variables) if isinstance(term, DomainTerm) else ():
            aggregates.append(replace(aggregate, cost=cost * aggregate.cost))
    return aggregates
