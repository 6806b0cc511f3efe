"""Master model: how often each use of a domain occurs, and its expansion into cells."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.locality import WHOLE
from ...models.placements.assignment import Assignment
from ..cuts.domains_of_subsets import rows as subset_rows
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values, allowed
from ..model.amount import Amount, Saying, total
from ..model.engine import Outcome, run
from ..objectives.domains import ByDomain, Excess, Share
from ..objectives.idle import Idle
from ..objectives.term import Objective
from ..objectives.tiers import Tier
from .applies import levels, reasons
from .contents import TooMany, Vector
from .uses import Together, Uses, dealt_out


def expanded(
    uses: Uses, times: Sequence[int], units: Sequence[int], together: Mapping[int, Mapping[tuple[int, int], int]]
) -> Values:  # fmt: skip
    """The decision values: domains of a kind take their uses in the order of the options.

    Parameters
    ----------
    times : how many domains are used by each option.
    units : how many units of each bundle there are: what written out uses hold beyond that is left out where they come last.
    together : of free options, by their numbers: (bundle, cell of the domain) -> units in all domains of the option.
    """
    values: Values = dict.fromkeys(uses.layout.counts, 0)
    left = [list(kind.domains) for kind in uses.kinds]
    least: list[tuple[int, list[int], Vector]] = []
    wanted = list(units)
    for number, (option, count) in enumerate(zip(uses.options, times)):
        if not option.free:
            least += [(option.kind, list(option.most), option.least) for _ in range(count)]
        elif count:
            for cells in dealt_out(uses, option, count, together[number]):
                _hold(uses, values, left[option.kind].pop(0), cells)
                wanted = [amount - sum(its) for amount, its in zip(wanted, zip(*cells))] if cells else wanted
    for bundle, amount in enumerate(wanted):
        beyond = sum(vector[bundle] for _, vector, _ in least) - amount
        for _, vector, low in reversed(least):
            less = max(0, min(beyond, vector[bundle] - low[bundle]))
            vector[bundle] -= less
            beyond -= less
    for kind, vector, _ in least:
        _hold(uses, values, left[kind].pop(0), uses.contents[kind][tuple(vector)])
    return values


def _hold(uses: Uses, values: Values, domain: Sequence[Cell], cells: Sequence[Sequence[int]]) -> None:
    for cell, its in zip(domain, cells):
        for bundle, amount in enumerate(its):
            if amount:
                values[Count(uses.layout.counted[bundle], cell)] = amount


class Master(Saying):
    """Every domain is used in one way, and all uses together hold what is asked for.

    It holds for every answer, so that what it proves is proved; where options are free, its own answers may promise too much.

    Attributes
    ----------
    times : how many domains are used by each option.
    together : of free options, by their numbers, what their domains hold.
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
        self.together = {
            number: Together(self, uses.domains[option.kind], option, self.times[number])
            for number, option in enumerate(uses.options)
            if option.free
        }
        self.units = [self._units(number, bundle) for number, bundle in enumerate(self.layout.counted)]
        self._is_counted = False
        for number, bundle in enumerate(self.layout.counted):
            touched = total(times for times, option in zip(self.times, uses.options) if option.has(number))
            for component in bundle.components:
                for spread in component.spread:
                    self.at_most(spread.domains, touched, f"{component.name} is not spread")
                for domains in self._kept_in(component):
                    self.at_most(touched, domains, f"{component.name} is not kept together")

    def _count(self) -> None:
        """Say in how many domains some of a bundle, or of any of several, is: what is whole-numbered in all says more than each use does.

        Of some sets of bundles it is known how many domains they need at least (see cuts/domains_of_subsets.py).
        """
        number = {bundle: position for position, bundle in enumerate(self.layout.counted)}
        needs = [(frozenset(number[b] for b in its if b in number), need) for its, need in subset_rows(self.layout, self.uses.levels[0])]
        least = dict(needs)
        weighed = sorted({bundle for members in least for bundle in members})
        every = sum(len(kind.domains) for kind in self.uses.kinds)
        for size in range(1, len(weighed) + 1):
            for members in map(frozenset, combinations(weighed, size)):
                used = (times for times, option in zip(self.times, self.uses.options) if any(map(option.has, members)))
                self._counted(used, least.get(members, 0), every)
        for bundle in weighed:
            for kind in range(len(self.uses.kinds)):
                its = zip(self.times, self.uses.options)
                self._counted((times for times, option in its if option.kind == kind and option.has(bundle)), 0, every)

    def _counted(self, times: Iterable[cp_model.IntVar], least: int, most: int) -> None:
        count = self.integer(0, most, "domains")
        self.require(total(times) == count)
        self.at_most(least, count)

    def _units(self, number: int, bundle: Bundle) -> cp_model.IntVar:
        kinds = zip(self.uses.kinds, self.uses.domains)
        step, room = self.uses.domains[0].steps[number], sum(len(kind.domains) * domain.most[number] for kind, domain in kinds)
        units = self.integer(0, room, f"units of {bundle.name}")
        amounts = [amount for amount in allowed(self.layout, bundle, room) if not amount % step]
        self.among(units, amounts, f"{bundle.name} has no amount that fits")
        least, most = (total(self._held(each, number, low) for each in range(len(self.times))) for low in (True, False))
        self.at_most(least, units, f"{bundle.name} has no place")
        self.at_most(units, most, f"{bundle.name} has no place")
        return units

    def _held(self, number: int, bundle: int, least: bool) -> Amount:
        """How many units of a bundle all domains of an option hold, at least or at most."""
        if number in self.together:
            return self.together[number].units(bundle)
        option = self.uses.options[number]
        return (option.least if least else option.most)[bundle] * self.times[number]

    def _kept_in(self, component: Component) -> Iterator[int]:
        """In how many domains the component must lie at most."""
        for keep in component.keep:
            if keep.required and keep.what == WHOLE and keep.level in self.uses.levels:
                yield keep.domains

    def aim(self, tier: Tier) -> Amount:
        """Minimise one tier; what that costs."""
        if not self._is_counted:
            self._count()
            self._is_counted = True
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
        return total([empty, *(self._cost(number, share) for number in range(len(self.times)) for share in shares)])

    def _cost(self, number: int, share: Share) -> Amount:
        """What all domains of an option cost."""
        held = self.uses.held(self.uses.options[number])
        if number not in self.together or not isinstance(share, Excess) or share.component not in held:
            return share.value(held) * self.times[number]
        asking, serving = (self._amount_in(number, name) for name in (share.component, share.source))
        if isinstance(serving, int):
            return share.cost * asking
        most = self.problem.room_for(self.problem[share.component])
        excess = self.integer(0, most, f"{share.component} without {share.source} by {number}")
        self.at_most(asking - share.ratio * serving, excess)  # in each domain alone it can only be more
        return share.cost * excess

    def _amount_in(self, number: int, name: str) -> Amount:
        """How much of a component all domains of a free option hold; 0 if none of it can be there."""
        given = dict(self.uses.kinds[self.uses.options[number].kind].given).get(name, 0)
        bundle = self.layout.bundle_of.get(name)
        searched = bundle in self.layout.counted and bundle is not None
        units = self.together[number].units(self.layout.counted.index(bundle)) if searched and bundle else 0
        return total([bundle.unit * units if bundle else 0, given * self.times[number] if given else 0])

    def _amount(self, bundle: Bundle) -> Amount:
        if bundle.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values())
        return bundle.unit * self.units[self.layout.counted.index(bundle)]

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Values:
        """The values of the decisions that every other model has, given a way to read one variable."""
        together = {number: {place: value(its) for place, its in each.cells.items()} for number, each in self.together.items()}
        return expanded(self.uses, [value(times) for times in self.times], [value(units) for units in self.units], together)


def possible(layout: Layout, limit: float, seed: int, presolve: bool) -> Outcome[Values] | None:
    """Any answer, or that there is none; None where the problem is no sum over domains, whatever its answers cost."""
    uses = uses_of(layout, ())
    return run(Master(uses), limit, seed, presolve) if uses and not uses.free else None


def uses_of(layout: Layout, tiers: tuple[Tier, ...]) -> Uses | None:
    """What the domains can be used for; None where the problem is no sum over domains, or that is too much to write out."""
    if any(reasons(layout, tiers)):
        return None
    terms = [term for tier in tiers for term, _ in tier.members if isinstance(term, ByDomain)]
    try:
        return Uses(layout, levels(layout, tiers), [share for term in terms for share in term.by_domain(layout.problem)])
    except TooMany:
        return None
