"""Pattern model of alike domains: uses, domains per use, and joint contents."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from math import gcd, lcm
from typing import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model

from ...models.component import WHOLE, Component
from ...models.record import dataclass
from ..cuts import subset_rows
from ..layout.bundle import Bundle
from ..layout.capacities import rooms_of
from ..layout.layout import Count, Layout, Values, list_allowed
from ..layout.pools import NodePool
from ..model.amount import Amount, ConstraintModel, total
from ..objectives.counts import MissingAccelerators
from ..objectives.term import Objective
from ..objectives.tiers import Tier
from ..objectives.traffic import DomainCost, DomainTerm, UnservedCost
from .applicability import DomainKind, Sort, applies, group_domains, levels, permits

Vector = tuple[int, ...]
"""Units per counted bundle, in the order of the layout."""


@dataclass(frozen=True)
class PatternRow:
    """Capacity row: pieces of a size per unit of a bundle, at most `most` in total."""

    taken: dict[int, int]
    most: int

    def pieces(self, bundle: int) -> int:
        """Return the pieces of a unit of the bundle."""
        return self.taken.get(bundle, 0)

    def holds(self, vector: Vector) -> bool:
        """Return True if the vector satisfies the row."""
        return sum(pieces * vector[bundle] for bundle, pieces in self.taken.items()) <= self.most


class Domain:
    """Capacities of any domain of a kind.

    Attributes
    ----------
    steps : the units of a bundle in a domain are a multiple of its step.
    most : capacity in units for each bundle alone.
    open : numbers of bundles that may be placed here.
    rows : capacity rows per cell.
    groups : capacity rows of the domain for groups that stay whole in it; remainders are lost.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], kind: DomainKind) -> None:
        self.layout, self.alike = layout, kind
        self.steps = tuple(lcm(*(bundle.whole(level) for level in levels)) // bundle.unit for bundle in layout.counted)
        self.most = tuple(self._most(levels[0], number) for number in range(len(layout.counted)))
        self.open = tuple(number for number, most in enumerate(self.most) if most)
        self.rows = [self._rows(sort) for sort in kind.sorts]
        self.groups = [row for pool in layout.pools for row in self._groups(pool)]

    def _most(self, level: str, number: int) -> int:
        if not any(number in sort.open for sort in self.alike.sorts):
            return 0
        bundle, name = self.layout.counted[number], self.alike.domains[0][0].domain(level)
        return rooms_of(self.layout).most(bundle, level, name) // bundle.unit

    def _rows(self, sort: Sort) -> list[PatternRow]:
        rows = []
        for pool, size, in_numa, most in sort.room:
            pieces: dict[int, int] = {}
            for number, unit_size in zip(sort.open, sort.taken):
                bundle = self.layout.counted[number]
                if number in self.open and self.layout.pool_of[bundle] is self.layout.pools[pool]:
                    pieces[number] = _pieces(bundle, size) if in_numa else unit_size // size
            rows.append(PatternRow({number: count for number, count in pieces.items() if count}, most))
        return rows

    def _groups(self, pool: NodePool) -> Iterator[PatternRow]:
        bundles = {number: self.layout.counted[number] for number in self.open if self.layout.pool_of[self.layout.counted[number]] is pool}
        whole = {number: self.steps[number] * bundle.unit for number, bundle in bundles.items()}
        for size in sorted({whole[number] for number in bundles if self.steps[number] > 1}):
            large = {number: bundle for number, bundle in bundles.items() if whole[number] % size == 0}
            piece = gcd(*(bundle.unit for bundle in large.values()))
            capacity = piece * sum(self.layout.capacity(cell, pool, piece) for cell in self.alike.domains[0])
            yield PatternRow({number: bundle.unit for number, bundle in large.items()}, capacity // size * size)

    def beside(self, members: Collection[int]) -> Iterator[PatternRow]:
        """Yield tighter rows for larger groups beside a minimum of smaller bundles.

        The domain contains all bundles of `members`. Every smaller bundle takes at least one group
        out of the capacity. Cells that no larger bundle may use are left to the smaller bundles.
        """
        for pool in self.layout.pools:
            bundles = {
                number: self.layout.counted[number] for number in members if self.layout.pool_of[self.layout.counted[number]] is pool
            }
            whole = {number: self.steps[number] * bundle.unit for number, bundle in bundles.items()}
            for size in sorted(set(whole.values())):
                large = {number for number in bundles if whole[number] % size == 0}
                cells = [cell for sort, cell in zip(self.alike.sorts, self.alike.domains[0]) if large.intersection(sort.open)]
                elsewhere = {number for sort in self.alike.sorts if not large.intersection(sort.open) for number in sort.open}
                small = bundles.keys() - large - elsewhere
                piece = gcd(*(bundles[number].unit for number in (*large, *small)))
                capacity = piece * sum(self.layout.capacity(cell, pool, piece) for cell in cells)
                capacity -= sum(whole[number] for number in small)
                if small:
                    yield PatternRow({number: bundles[number].unit for number in sorted(large)}, max(0, capacity) // size * size)


def _pieces(bundle: Bundle, size: int) -> int:
    """Return a unit's pieces inside NUMA domains (see rules/no_overlap.py)."""
    return bundle.unit // size if bundle.piece >= max(size, 2) else 0


@dataclass(frozen=True)
class RackOption:
    """Use of a domain by a set of bundles.

    The contents of a single domain are open: only the total over all domains of the option is decided.

    Attributes
    ----------
    kind : number of the kind.
    least, most : units of each bundle, in the order of the layout.
    """

    kind: int
    least: Vector
    most: Vector

    @property
    def present(self) -> list[int]:
        """Numbers of the bundles in the domain."""
        return [number for number, most in enumerate(self.most) if most]

    def has(self, bundle: int) -> bool:
        """Return True if the domain contains some of the bundle."""
        return self.most[bundle] > 0


def supports(kind: int, domain: Domain) -> Iterator[RackOption]:
    """Yield all sets of bundles that fit a domain."""
    for size in range(len(domain.open) + 1):
        for present in combinations(domain.open, size):
            lower, upper = (
                tuple(vector[number] if number in present else 0 for number in range(len(vector))) for vector in (domain.steps, domain.most)
            )
            if permits(domain.layout, present) and all(row.holds(lower) for row in (*domain.groups, *domain.beside(present))):
                yield RackOption(kind, lower, upper)


MOST_USES = 4096
"""Limit of sets of bundles over all kinds; beyond it the ordinary model is better."""


class Uses:
    """Uses of the domains of a level.

    Attributes
    ----------
    levels : the level and other levels with the same domains.
    kinds : the domains, grouped by kind.
    domains : capacities of each kind.
    options : every use that an answer may need.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...]) -> None:
        self.layout, self.levels = layout, levels
        self.kinds = group_domains(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        self.are_few = sum(1 << len(domain.open) for domain in self.domains) <= MOST_USES
        every = (supports(kind, domain) for kind, domain in enumerate(self.domains) if self.are_few)
        self.options = tuple(option for kind_options in every for option in kind_options)

    def find_most(self, option: RackOption) -> dict[str, int]:
        """Return component -> most resources in a domain of this use."""
        amounts = dict(self.kinds[option.kind].given)
        for bundle, units in zip(self.layout.counted, option.most):
            amounts.update({component.name: bundle.unit * units for component in bundle.components if units})
        return amounts


def distribute(uses: Uses, option: RackOption, count: int, joint_units: Mapping[tuple[int, int], int]) -> list[tuple[Vector, ...]]:
    """Return the cell contents of `count` domains.

    Units that fit nowhere are left out; verification then refuses the answer.

    Parameters
    ----------
    joint_units : (bundle, cell of the domain) -> units in all domains.
    """
    domain = uses.domains[option.kind]
    contents = [_Part(domain) for _ in range(count)]
    remaining = dict(joint_units)
    order = sorted(option.present, key=lambda bundle: -domain.steps[bundle] * uses.layout.counted[bundle].unit)
    for bundle in order:  # the least amount of every bundle first
        for content in contents:
            content.add(bundle, option.least[bundle], remaining)
    for bundle in order:
        step = domain.steps[bundle]
        waiting = [(content.units(bundle), number) for number, content in enumerate(contents)]
        heapify(waiting)
        beyond = sum(units for (owner, _), units in remaining.items() if owner == bundle)
        while waiting and beyond >= step:
            units, number = heappop(waiting)
            if contents[number].add(bundle, step, remaining):  # a part without capacity now has none later
                heappush(waiting, (units + step, number))
                beyond -= step
    return [content.cells for content in contents]


class _Part:
    """Contents of a domain under construction."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._held = [[0] * len(domain.most) for _ in domain.alike.sorts]

    @property
    def cells(self) -> tuple[Vector, ...]:
        """Units per cell."""
        return tuple(map(tuple, self._held))

    def units(self, bundle: int) -> int:
        """Return the units of a bundle."""
        return sum(cell[bundle] for cell in self._held)

    def add(self, bundle: int, units: int, remaining: dict[tuple[int, int], int]) -> bool:
        """Take units from `remaining`; False and no change if the units do not fit."""
        if self.units(bundle) + units > self._domain.most[bundle]:
            return False
        additions: list[int] = []
        for cell, amounts in enumerate(self._held):
            addition = min(units - sum(additions), remaining.get((bundle, cell), 0), self._room(amounts, cell, bundle))
            additions.append(addition)
            amounts[bundle] += addition
        total = [sum(column) for column in zip(*self._held)]
        if sum(additions) < units or not all(row.holds(tuple(total)) for row in self._domain.groups):
            for amounts, addition in zip(self._held, additions):
                amounts[bundle] -= addition
            return False
        for cell, addition in enumerate(additions):
            remaining[bundle, cell] = remaining.get((bundle, cell), 0) - addition
        return True

    def _room(self, amounts: Sequence[int], cell: int, bundle: int) -> int:
        """Return the number of further units that fit the cell."""
        rows = [row for row in self._domain.rows[cell] if row.pieces(bundle)]
        loads = ((row, sum(pieces * amounts[number] for number, pieces in row.taken.items())) for row in rows)
        return min(((row.most - load) // row.pieces(bundle) for row, load in loads), default=0)


class JointContents:
    """Units per bundle and sort of cell over all domains, within total capacity.

    The rows hold for every answer. They are a relaxation: units that fit the total need not fit
    each domain (see `distribute`).
    """

    def __init__(self, saying: ConstraintModel, domain: Domain, option: RackOption, times: cp_model.IntVar) -> None:
        self._saying, self._domain, self._times = saying, domain, times
        count = len(domain.alike.domains)
        self.cells: dict[tuple[int, int], cp_model.IntVar] = {}
        for bundle in option.present:
            for cell, sort in enumerate(domain.alike.sorts):
                if bundle in sort.open:
                    self.cells[bundle, cell] = saying.integer(0, count * option.most[bundle], f"units of {bundle} in cells {cell}")
        for cell, rows in enumerate(domain.rows):
            for row in rows:
                self._keep(row, lambda bundle, cell=cell: self.cells.get((bundle, cell), 0))  # type: ignore[misc]
        for row in (*domain.groups, *domain.beside(option.present)):
            self._keep(row, self.units)
        for bundle in option.present:
            amount = self.units(bundle)
            if domain.steps[bundle] > 1:
                whole = saying.integer(0, count * option.most[bundle] // domain.steps[bundle], f"groups of {bundle}")
                saying.require(amount == domain.steps[bundle] * whole)
            saying.at_most(option.least[bundle] * times, amount)
            saying.at_most(amount, option.most[bundle] * times)

    def _keep(self, row: PatternRow, units: Callable[[int], Amount]) -> None:
        self._saying.at_most(total(pieces * units(bundle) for bundle, pieces in row.taken.items()), row.most * self._times)

    def units(self, bundle: int) -> Amount:
        """Return the units of a bundle in all domains of the option."""
        return total(variable for (owner, _), variable in self.cells.items() if owner == bundle)


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

        Raises ValueError for a term that is not a sum over domains (see `applies.py`).
        """
        if isinstance(term, MissingAccelerators):
            stretchable = term.stretchable(self.problem)
            return total(component.most - self._amount(self.layout.bundle_of[component.name]) for component in stretchable)
        if not isinstance(term, DomainTerm):
            raise ValueError(f"{term.name} is not a sum over domains")
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
