"""What all domains of a free option hold together."""

from __future__ import annotations

from typing import Callable

from ortools.sat.python import cp_model

from ..model.amount import Amount, total
from ..model.saying import Saying
from .domain_rows import Domain, Row
from .options import Option


class Together:
    """So many units of every bundle in all cells of one sort together: no more than these cells have room for.

    Of each domain by itself that is true too; that what fits all of them fits each is not said, so that these rows hold for every
    answer, but an answer of theirs may not be one (see `dealt_out.py`).
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
