"""What all domains of a free option hold together is dealt out to each: the largest groups first, each where least of it is."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Mapping, Sequence

from .domain_rows import Domain, Vector
from .options import Option
from .uses import Uses


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
