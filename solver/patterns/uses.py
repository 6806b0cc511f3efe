"""Uses of domains that are alike, and what all domains of an option hold together."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Callable, Iterable, Mapping, Sequence

from ortools.sat.python import cp_model

from ..layout.layout import Layout
from ..model.amount import Amount, Saying, total
from ..objectives.domains import Excess, Share
from .applies import alike
from .contents import Contents, Domain, Option, Row, TooMany, Vector, contents, is_small, options, supports

MOST_CONTENTS = 20_000
"""Of more different contents of domains, of all kinds together, the model is no better than the ordinary one."""
MANY_ALIKE = 5
"""Where so many domains are alike on the average, uses need not be written out: sets of bundles do. Where fewer are, the ordinary
model is as good."""
FEW_USES = 100
"""Of more uses of one kind of domains, sets of bundles are the better ones, if they do."""


class Uses:
    """What the domains of a level can be used for. Raises TooMany where that is too much to write out.

    Attributes
    ----------
    levels : the level; with its other names, where the domains of several levels are the same.
    kinds : the domains, those that are alike together.
    domains : what fits one of each kind.
    contents : for each kind all that one can hold; nothing where its options are free.
    options : every use that an answer may need.
    """

    def __init__(self, layout: Layout, levels: tuple[str, ...], shares: Iterable[Share]) -> None:
        self.layout, self.levels = layout, levels
        self.kinds = alike(layout, levels[0])
        self.domains = [Domain(layout, levels, kind) for kind in self.kinds]
        names = {name for share in shares if isinstance(share, Excess) for name in (share.component, share.source)}
        self._exact = frozenset(n for n, bundle in enumerate(layout.counted) if any(c.name in names for c in bundle.components))
        many = sum(len(kind.domains) for kind in self.kinds) >= MANY_ALIKE * len(self.kinds)
        if not many and not all(is_small(domain, MOST_CONTENTS) for domain in self.domains):
            raise TooMany
        self.contents: list[Contents] = []
        found: list[Option] = []
        for kind, domain in enumerate(self.domains):
            its = self._few(kind, domain) if many else self._written_out(kind, domain)
            found += its
        self.options = tuple(found)

    @property
    def free(self) -> bool:
        """Are some options free?"""
        return any(option.free for option in self.options)

    def _written_out(self, kind: int, domain: Domain) -> list[Option]:
        every = contents(domain, MOST_CONTENTS - sum(map(len, self.contents)))
        self.contents.append(every)
        return list(options(kind, domain, every, self._exact))

    def _few(self, kind: int, domain: Domain) -> list[Option]:
        """Those that are written out if they are few, else sets of bundles."""
        try:
            its = self._written_out(kind, domain) if is_small(domain, MOST_CONTENTS // len(self.kinds)) else []
        except TooMany:
            its = []
        if 0 < len(its) <= FEW_USES:
            return its
        del self.contents[kind:]
        self.contents.append({})
        return list(supports(kind, domain))

    def held(self, option: Option) -> dict[str, int]:
        """Component -> what a domain of this use holds of it, at most."""
        found = dict(self.kinds[option.kind].given)
        for bundle, units in zip(self.layout.counted, option.most):
            found.update({component.name: bundle.unit * units for component in bundle.components if units})
        return found


def dealt_out(uses: Uses, option: Option, count: int, together: Mapping[tuple[int, int], int]) -> list[tuple[Vector, ...]]:
    """For each of so many domains what its cells hold. What finds no place is left out, and whoever checks the answer refuses it.

    Parameters
    ----------
    together : (bundle, cell of the domain) -> units in all domains.
    """
    domain = uses.domains[option.kind]
    parts = [_Part(domain) for _ in range(count)]
    left = dict(together)
    order = sorted((b for b in range(len(option.most)) if option.has(b)), key=lambda b: -domain.steps[b] * uses.layout.counted[b].unit)
    for bundle in order:  # at least a little of everything
        for part in parts:
            part.add(bundle, option.least[bundle], left)
    for bundle in order:
        step = domain.steps[bundle]
        waiting = [(part.units(bundle), number) for number, part in enumerate(parts)]
        heapify(waiting)
        beyond = sum(units for (its, _), units in left.items() if its == bundle)
        while waiting and beyond >= step:
            units, number = heappop(waiting)
            if parts[number].add(bundle, step, left):  # what has no room now has none later
                heappush(waiting, (units + step, number))
                beyond -= step
    return [part.cells for part in parts]


class _Part:
    """What is in one domain so far."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._held = [[0] * len(domain.most) for _ in domain.alike.sorts]

    @property
    def cells(self) -> tuple[Vector, ...]:
        """What its cells hold."""
        return tuple(map(tuple, self._held))

    def units(self, bundle: int) -> int:
        """Units of a bundle."""
        return sum(cell[bundle] for cell in self._held)

    def add(self, bundle: int, units: int, left: dict[tuple[int, int], int]) -> bool:
        """So many more of a bundle, taken from what is left for each cell; False if that does not fit, and then nothing changes."""
        if self.units(bundle) + units > self._domain.most[bundle]:
            return False
        taken: list[int] = []
        for cell, held in enumerate(self._held):
            room = min(units - sum(taken), left.get((bundle, cell), 0), self._room(held, cell, bundle))
            taken.append(room)
            held[bundle] += room
        total = [sum(its) for its in zip(*self._held)]
        if sum(taken) < units or not all(row.holds(tuple(total)) for row in self._domain.groups):
            for held, room in zip(self._held, taken):
                held[bundle] -= room
            return False
        for cell, room in enumerate(taken):
            left[bundle, cell] = left.get((bundle, cell), 0) - room
        return True

    def _room(self, held: Sequence[int], cell: int, bundle: int) -> int:
        """How many units more of the bundle fit the cell."""
        rows = [row for row in self._domain.rows[cell] if row.pieces(bundle)]
        used = ((row, sum(pieces * held[each] for each, pieces in row.taken.items())) for row in rows)
        return min(((row.most - load) // row.pieces(bundle) for row, load in used), default=0)


class Together:
    """So many units of every bundle in all cells of one sort together: no more than these cells have room for.

    Of each domain by itself that is true too; that what fits all of them fits each is not said, so that these rows hold for every
    answer, but an answer of theirs may not be one (see `dealt_out`).
    """

    def __init__(self, saying: Saying, domain: Domain, option: Option, times: cp_model.IntVar) -> None:
        self._saying, self._domain, self._times = saying, domain, times
        count = len(domain.alike.domains)
        self.cells: dict[tuple[int, int], cp_model.IntVar] = {}
        there = [bundle for bundle in range(len(option.most)) if option.has(bundle)]
        for bundle in there:
            for cell, sort in enumerate(domain.alike.sorts):
                if bundle in sort.open:
                    self.cells[bundle, cell] = saying.integer(0, count * option.most[bundle], f"units of {bundle} in cells {cell}")
        for cell, rows in enumerate(domain.rows):
            for row in rows:
                self._keep(row, lambda bundle, cell=cell: self.cells.get((bundle, cell), 0))  # type: ignore[misc]
        for row in (*domain.groups, *domain.beside(there)):
            self._keep(row, self.units)
        for bundle in there:
            amount = self.units(bundle)
            if domain.steps[bundle] > 1:
                whole = saying.integer(0, count * option.most[bundle] // domain.steps[bundle], f"groups of {bundle}")
                saying.require(amount == domain.steps[bundle] * whole)
            saying.at_most(option.least[bundle] * times, amount)
            saying.at_most(amount, option.most[bundle] * times)

    def _keep(self, row: Row, units: Callable[[int], Amount]) -> None:
        self._saying.at_most(total(pieces * units(bundle) for bundle, pieces in row.taken.items()), row.most * self._times)

    def units(self, bundle: int) -> Amount:
        """Units of a bundle in all domains of the option."""
        return total(variable for (its, _), variable in self.cells.items() if its == bundle)
