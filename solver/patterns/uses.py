"""Uses of alike domains, and joint contents of all domains of an option."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Callable, Iterable, Mapping, Sequence

from ortools.sat.python import cp_model

from ..layout.layout import Layout
from ..model.amount import Amount, ConstraintModel, total
from ..objectives.domain_costs import Unserved
from .applies import alike
from .contents import Contents, Domain, PatternRow, RackOption, TooMany, Vector, contents, is_small, options, supports

MOST_CONTENTS = 20_000
"""Limit of written-out contents in total; beyond it the ordinary model is as good."""
MANY_ALIKE = 5
"""Average number of alike domains from which sets of bundles replace written-out uses.

With fewer alike domains the ordinary model is as good.
"""
FEW_USES = 100
"""Limit of written-out uses per kind; beyond it sets of bundles are preferred."""


class Uses:
    """Uses of the domains of a level. Raises TooMany if the enumeration exceeds its limit.

    Attributes
    ----------
    levels : the level and other levels with the same domains.
    kinds : the domains, grouped by kind.
    domains : capacities of each kind.
    contents : all contents per kind; empty if the options of the kind are free.
    options : every use that an answer may need.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], streams: Iterable[Unserved]) -> None:
        self.layout, self.levels = layout, levels
        self.kinds = alike(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        names = {component.name for stream in streams for component in stream.parties}
        self._exact = frozenset(
            number for number, bundle in enumerate(layout.counted) if any(component.name in names for component in bundle.components)
        )
        are_many = sum(len(kind.domains) for kind in self.kinds) >= MANY_ALIKE * len(self.kinds)
        if not are_many and not all(is_small(domain, MOST_CONTENTS) for domain in self.domains):
            raise TooMany
        self.contents: list[Contents] = []
        uses: list[RackOption] = []
        for kind, domain in enumerate(self.domains):
            kind_uses = self._few(kind, domain) if are_many else self._written_out(kind, domain)
            uses += kind_uses
        self.options = tuple(uses)

    @property
    def free(self) -> bool:
        """True if some options are free."""
        return any(option.free for option in self.options)

    def _written_out(self, kind: int, domain: Domain) -> list[RackOption]:
        every = contents(domain, MOST_CONTENTS - sum(map(len, self.contents)))
        self.contents.append(every)
        return list(options(kind, domain, every, self._exact))

    def _few(self, kind: int, domain: Domain) -> list[RackOption]:
        """Return written-out uses if they are few, else sets of bundles."""
        try:
            written_out = self._written_out(kind, domain) if is_small(domain, MOST_CONTENTS // len(self.kinds)) else []
        except TooMany:
            written_out = []
        if 0 < len(written_out) <= FEW_USES:
            return written_out
        del self.contents[kind:]
        self.contents.append({})
        return list(supports(kind, domain))

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
    order = sorted(
        (bundle for bundle in range(len(option.most)) if option.has(bundle)),
        key=lambda bundle: -domain.steps[bundle] * uses.layout.counted[bundle].unit,
    )
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
        present = [bundle for bundle in range(len(option.most)) if option.has(bundle)]
        for bundle in present:
            for cell, sort in enumerate(domain.alike.sorts):
                if bundle in sort.open:
                    self.cells[bundle, cell] = saying.integer(0, count * option.most[bundle], f"units of {bundle} in cells {cell}")
        for cell, rows in enumerate(domain.rows):
            for row in rows:
                self._keep(row, lambda bundle, cell=cell: self.cells.get((bundle, cell), 0))  # type: ignore[misc]
        for row in (*domain.groups, *domain.beside(present)):
            self._keep(row, self.units)
        for bundle in present:
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
