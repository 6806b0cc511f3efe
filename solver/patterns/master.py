"""Master model: number of domains per use, and joint contents of the domains of a use."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterable, Iterator

from ortools.sat.python import cp_model

from ...models.component import WHOLE, Component
from ..cuts import subset_rows
from ..layout.bundle import Bundle
from ..layout.layout import Count, Layout, Values, list_allowed
from ..model.amount import Amount, ConstraintModel, total
from ..objectives.counts import MissingAccelerators
from ..objectives.term import Objective
from ..objectives.tiers import Tier
from ..objectives.traffic import DomainCost, DomainTerm, UnservedCost
from .applicability import applies, levels
from .uses import JointContents, Uses, distribute


class Master(ConstraintModel):
    """Pattern model: a use per domain, all bundles placed.

    A relaxation: bounds and infeasibility hold for every answer. Its own answers may be infeasible.

    Attributes
    ----------
    times : number of domains per option.
    together : contents of the domains per option.
    units : units of each bundle.
    """

    def __init__(self, uses: Uses) -> None:
        super().__init__()
        self.uses, self.problem, self.layout = uses, uses.layout.problem, uses.layout
        counts = [len(kind.domains) for kind in uses.kinds]
        self.times = [self.integer(0, counts[option.kind], f"domains {option.kind} with {option.most}") for option in uses.options]
        for kind, count in enumerate(counts):
            kind_times = (times for times, option in zip(self.times, uses.options) if option.kind == kind)
            self.require(total(kind_times) == count)
        self.together = [JointContents(self, uses.domains[option.kind], option, times) for option, times in zip(uses.options, self.times)]
        self.units = [self._units(number, bundle) for number, bundle in enumerate(self.layout.counted)]
        self._is_counted = False
        for number, bundle in enumerate(self.layout.counted):
            domain_count = total(times for times, option in zip(self.times, uses.options) if option.has(number))
            for component in bundle.components:
                for spread in component.spread:
                    self.at_most(spread.domains, domain_count)
                for domains in self._list_domain_limits(component):
                    self.at_most(domain_count, domains)

    def _count(self) -> None:
        """Count the domains that contain a bundle, or any of a set of bundles.

        An integer sum is a stronger statement than integer uses. For some sets of bundles a minimum
        number of domains is known (see cuts.py).
        """
        number_of = {bundle: position for position, bundle in enumerate(self.layout.counted)}
        needs = [
            (frozenset(number_of[bundle] for bundle in members if bundle in number_of), need)
            for members, need in subset_rows(self.layout, self.uses.levels[0])
        ]
        fewest = dict(needs)
        numbers = sorted({bundle for members in fewest for bundle in members})
        every = sum(len(kind.domains) for kind in self.uses.kinds)
        for size in range(1, len(numbers) + 1):
            for members in map(frozenset, combinations(numbers, size)):
                set_times = (times for times, option in zip(self.times, self.uses.options) if any(map(option.has, members)))
                self._bound_times(set_times, fewest.get(members, 0), every)
        for bundle in numbers:
            for kind in range(len(self.uses.kinds)):
                timed_options = zip(self.times, self.uses.options)
                self._bound_times((times for times, option in timed_options if option.kind == kind and option.has(bundle)), 0, every)

    def _bound_times(self, times: Iterable[cp_model.IntVar], minimum: int, most: int) -> None:
        count = self.integer(0, most, "domains")
        self.require(total(times) == count)
        self.at_most(minimum, count)

    def _units(self, number: int, bundle: Bundle) -> cp_model.IntVar:
        uses, step = self.uses, self.uses.domains[0].steps[number]
        capacity = sum(len(kind.domains) * domain.most[number] for kind, domain in zip(uses.kinds, uses.domains))
        units = self.integer(0, capacity, f"units of {bundle.name}")
        amounts = [amount for amount in list_allowed(self.layout, bundle, capacity) if not amount % step]
        self.among(units, amounts)
        self.require(units == total(contents.units(number) for contents in self.together))
        return units

    def _list_domain_limits(self, component: Component) -> Iterator[int]:
        """Yield limits on the number of domains of a component."""
        for keep in component.keep:
            if keep.required and keep.unit == WHOLE and keep.level in self.uses.levels:
                yield keep.domains

    def aim(self, tier: Tier) -> Amount:
        """Minimise a tier and return the cost."""
        if not self._is_counted:
            self._count()
            self._is_counted = True
        amount = total(cost * self._term(term) for term, cost in tier.members)
        self.minimise(amount)
        return amount

    def _term(self, term: Objective) -> Amount:
        """Return the cost of a term.

        Raises ValueError for a term that is no sum over domains (see `applies.py`).
        """
        if isinstance(term, MissingAccelerators):
            stretchable = term.stretchable(self.problem)
            return total(component.most - self._amount(self.layout.bundle_of[component.name]) for component in stretchable)
        if not isinstance(term, DomainTerm):
            raise ValueError(f"{term.name} is no sum over domains")
        costs = list(term.costs(self.problem))
        offset = sum(cost.offset for cost in costs)
        return total([offset, *(self._cost(number, cost) for number in range(len(self.times)) for cost in costs)])

    def _cost(self, number: int, cost: DomainCost) -> Amount:
        """Return the cost of all domains of an option."""
        amounts = self.uses.find_most(self.uses.options[number])
        if not isinstance(cost, UnservedCost) or cost.component.name not in amounts:
            return cost.of_domain(amounts) * self.times[number]
        asking, serving = (self._amount_in(number, component.name) for component in cost.parties)
        if isinstance(serving, int):
            return cost.cost * asking
        most = self.problem.room_for(cost.component)
        excess = self.integer(0, most, f"{cost.component.name} without {cost.source.name} by {number}")
        # A lower bound: domain by domain the excess can only be larger.
        self.at_most(asking - cost.ratio * serving, excess)
        return cost.cost * excess

    def _amount_in(self, number: int, name: str) -> Amount:
        """Return a component's resources in all domains of an option; 0 if excluded."""
        explicit = dict(self.uses.kinds[self.uses.options[number].kind].given).get(name, 0)
        bundle = self.layout.bundle_of.get(name)
        is_counted = bundle in self.layout.counted and bundle is not None
        units = self.together[number].units(self.layout.counted.index(bundle)) if is_counted and bundle else 0
        return total([bundle.unit * units if bundle else 0, explicit * self.times[number] if explicit else 0])

    def _amount(self, bundle: Bundle) -> Amount:
        if bundle.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values())
        return bundle.unit * self.units[self.layout.counted.index(bundle)]

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Values:
        """Return the common decision values, read variable by variable through `value`.

        Domains of a kind take the uses in the order of the options.
        """
        bundles, values = self.layout.counted, Values(dict.fromkeys(self.layout.counts, 0))
        remaining = [list(kind.domains) for kind in self.uses.kinds]
        for option, times, contents in zip(self.uses.options, self.times, self.together):
            units = {place: value(variable) for place, variable in contents.cells.items()}
            for vectors in distribute(self.uses, option, value(times), units):
                for cell, vector in zip(remaining[option.kind].pop(0), vectors):
                    values.update({Count(bundles[bundle], cell): amount for bundle, amount in enumerate(vector) if amount})
        return values


def uses_of(layout: Layout, tiers: tuple[Tier, ...]) -> Uses | None:
    """Return the uses of all domains; None if inapplicable or too many."""
    if not applies(layout, tiers):
        return None
    uses = Uses(layout, levels(layout, tiers))
    return uses if uses.are_few else None
