"""The model over uses of domains: how many domains of each kind are used in which way."""

from __future__ import annotations

from typing import Callable, Iterator

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.locality import WHOLE
from ...models.placements.assignment import Assignment
from ..layout.amounts import allowed
from ..layout.bundle import Bundle
from ..layout.layout import Values
from ..model.amount import Amount, total
from ..model.saying import Saying
from ..objectives.by_domain import ByDomain
from ..objectives.idle import Idle
from ..objectives.term import Objective
from ..objectives.tiers import Tier
from .expansion import expanded
from .uses import Uses


class Master(Saying):
    """Every domain is used in one way, and all uses together hold what is asked for.

    Attributes
    ----------
    times : how many domains are used by each option.
    units : how many units of each bundle there are.
    """

    def __init__(self, uses: Uses) -> None:
        super().__init__()
        self.uses, self.problem, self.layout = uses, uses.layout.problem, uses.layout
        counts = [len(kind.domains) for kind in uses.kinds]
        self.times = [self.integer(0, counts[option.kind], f"domains {option.kind} with {option.most}") for option in uses.options]
        for kind, count in enumerate(counts):
            its = (times for times, option in zip(self.times, uses.options) if option.kind == kind)
            self.require(total(its) == count, f"domains {kind} have no use")
        self.units = [self._units(number, bundle) for number, bundle in enumerate(self.layout.counted)]
        for number, bundle in enumerate(self.layout.counted):
            touched = total(times for times, option in zip(self.times, uses.options) if option.has(number))
            for component in bundle.components:
                for spread in component.spread:
                    self.at_most(spread.domains, touched, f"{component.name} is not spread")
                for domains in self._together(component):
                    self.at_most(touched, domains, f"{component.name} is not kept together")

    def _units(self, number: int, bundle: Bundle) -> cp_model.IntVar:
        kinds = zip(self.uses.kinds, self.uses.domains)
        step, room = self.uses.domains[0].steps[number], sum(len(kind.domains) * domain.most[number] for kind, domain in kinds)
        units = self.integer(0, room, f"units of {bundle.name}")
        amounts = [amount for amount in allowed(self.layout, bundle, room) if not amount % step]
        self.among(units, amounts, f"{bundle.name} has no amount that fits")
        least = total(option.least[number] * times for option, times in zip(self.uses.options, self.times))
        most = total(option.most[number] * times for option, times in zip(self.uses.options, self.times))
        self.at_most(least, units, f"{bundle.name} has no place")
        self.at_most(units, most, f"{bundle.name} has no place")
        return units

    def _together(self, component: Component) -> Iterator[int]:
        """In how many domains the component must lie at most."""
        for keep in component.keep:
            if keep.required and keep.what == WHOLE and keep.level in self.uses.levels:
                yield keep.domains

    def aim(self, tier: Tier) -> Amount:
        """Minimise one tier; what that costs."""
        amount = total(cost * self._term(term) for term, cost in tier.members)
        self.minimise(amount)
        return amount

    def _term(self, term: Objective) -> Amount:
        """What a term costs. Raises ValueError for one that is no sum over domains (see `applies.py`)."""
        if isinstance(term, Idle):
            asked = term.stretchable(self.problem)
            return total(component.most - self._amount(self.layout.bundle_of[component.name]) for component in asked)
        if not isinstance(term, ByDomain):
            raise ValueError(f"{term.name} is no sum over domains")
        shares = list(term.by_domain(self.problem))
        empty = term.value(self.problem, Assignment({component.name: () for component in self.problem.components}))
        held = [self.uses.held(option) for option in self.uses.options]
        return total([empty, *(sum(share.value(its) for share in shares) * times for its, times in zip(held, self.times))])

    def _amount(self, bundle: Bundle) -> Amount:
        if bundle.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values())
        return bundle.unit * self.units[self.layout.counted.index(bundle)]

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Values:
        """The values of the decisions that every other model has, given a way to read one variable."""
        return expanded(self.uses, [value(times) for times in self.times], [value(units) for units in self.units])
