"""Uses of alike domains: racks are counted by the bundles they hold, with joint contents per use."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Callable, Mapping, Sequence

from ortools.sat.python import cp_model

from ..layout.layout import Layout
from ..model.amount import Amount, ConstraintModel, total
from .applicability import alike
from .contents import Domain, PatternRow, RackOption, Vector, supports

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
        self.kinds = alike(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        self.are_few = sum(1 << len(domain.open) for domain in self.domains) <= MOST_USES
        every = (supports(kind, domain) for kind, domain in enumerate(self.domains) if self.are_few)
        self.options = tuple(option for kind_options in every for option in kind_options)

    def held(self, option: RackOption) -> dict[str, int]:
        """Return component -> most resources in a domain of this use."""
        amounts = dict(self.kinds[option.kind].given)
        for bundle, units in zip(self.layout.counted, option.most):
            amounts.update({component.name: bundle.unit * units for component in bundle.components if units})
        return amounts


def distribute(uses: Uses, option: RackOption, count: int, together: Mapping[tuple[int, int], int]) -> list[tuple[Vector, ...]]:
    """Return the cell contents of `count` domains.

    Units that fit nowhere are left out; verification then refuses the answer.

    Parameters
    ----------
    together : (bundle, cell of the domain) -> units in all domains.
    """
    domain = uses.domains[option.kind]
    parts = [_Part(domain) for _ in range(count)]
    left = dict(together)
    order = sorted(option.present, key=lambda bundle: -domain.steps[bundle] * uses.layout.counted[bundle].unit)
    for bundle in order:  # the least amount of every bundle first
        for part in parts:
            part.add(bundle, option.least[bundle], left)
    for bundle in order:
        step = domain.steps[bundle]
        waiting = [(part.units(bundle), number) for number, part in enumerate(parts)]
        heapify(waiting)
        beyond = sum(units for (owner, _), units in left.items() if owner == bundle)
        while waiting and beyond >= step:
            units, number = heappop(waiting)
            if parts[number].add(bundle, step, left):  # a part without capacity now has none later
                heappush(waiting, (units + step, number))
                beyond -= step
    return [part.cells for part in parts]


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

    def add(self, bundle: int, units: int, left: dict[tuple[int, int], int]) -> bool:
        """Take units from `left`; False and no change if the units do not fit."""
        if self.units(bundle) + units > self._domain.most[bundle]:
            return False
        taken: list[int] = []
        for cell, amounts in enumerate(self._held):
            added = min(units - sum(taken), left.get((bundle, cell), 0), self._room(amounts, cell, bundle))
            taken.append(added)
            amounts[bundle] += added
        total = [sum(column) for column in zip(*self._held)]
        if sum(taken) < units or not all(row.holds(tuple(total)) for row in self._domain.groups):
            for amounts, added in zip(self._held, taken):
                amounts[bundle] -= added
            return False
        for cell, added in enumerate(taken):
            left[bundle, cell] = left.get((bundle, cell), 0) - added
        return True

    def _room(self, amounts: Sequence[int], cell: int, bundle: int) -> int:
        """Return the number of further units that fit the cell."""
        rows = [row for row in self._domain.rows[cell] if row.pieces(bundle)]
        used = ((row, sum(pieces * amounts[number] for number, pieces in row.taken.items())) for row in rows)
        return min(((row.most - load) // row.pieces(bundle) for row, load in used), default=0)


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
