"""A contiguous bundle in CP-SAT: literals for where it begins and where it ends, and from them what it covers.

Literals were measured to prove optima where an integer start with max/min overlap left a gap of a third. Everything that is said of a
range is a sum over where it begins and where it ends, so that a place costs no term for every node that it covers: up to each border
between cells one literal says whether it has begun before, and one whether it has ended.
"""

from __future__ import annotations

from typing import Callable, Iterable

from ortools.sat.python import cp_model

from ...models.machines.node_group import Numbering
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.layout import Layout
from ..layout.ranges.fewest_nodes import fewest_nodes
from ..layout.ranges.places import Place, Places, by_ends
from .amount import Amount, total
from .edges import Edges, weighted
from .range_literals import each_end, each_place


class Ranges:
    """The places of one contiguous bundle: (first resource rank, units), of which exactly one is taken.

    Each place is one literal; where there are too many, where it begins is one decision, and where it ends another.
    """

    def __init__(self, model: cp_model.CpModel, layout: Layout, bundle: Bundle) -> None:
        self.model, self.bundle = model, bundle
        self.numbering, self.places = layout.numbering(bundle), Places(layout, bundle, layout.pool_of[bundle].free)
        self._segments = _segments(layout, self.numbering)
        borders = sorted({edge for runs in self._segments.values() for run in runs for edge in run})
        self._begun = Edges(model, f"{bundle.name} begins", borders)
        self._ended = Edges(model, f"{bundle.name} ends", [border + 1 for border in borders])
        self._at: dict[Place, cp_model.IntVar] = {}
        edges = self._begun, self._ended
        if by_ends(layout, bundle):
            self._units: Amount = each_end(model, layout, bundle, self.places, *edges)
        else:
            self._units = each_place(model, layout, bundle, self._at, *edges)
        self._pieces: dict[Cell, Amount] = {}
        self._interval: cp_model.IntervalVar | None = None

    @property
    def starts(self) -> list[Place]:
        """Every place. Raises ValueError where beginnings and ends are decided apart (see `layout/ranges/places.py`, by_ends)."""
        self._need_places()
        return list(self._at)

    def _need_places(self) -> None:
        if not self._at and self._begun.literals():
            raise ValueError(f"where {self.bundle.name} begins and where it ends are decided apart")

    @property
    def nodes(self) -> set[int]:
        """Every node of its numbering."""
        return {stretch.node_rank for stretch in self.numbering.stretches}

    def units(self, cell: Cell | None = None) -> Amount:
        """How many units are in the cell, or everywhere."""
        if cell is None:
            return self._units
        if cell not in self._pieces:
            held = self.held(cell)
            if isinstance(held, int) or self.bundle.unit == 1:
                self._pieces[cell] = held // self.bundle.unit if isinstance(held, int) else held
            else:
                most = sum(stop - start for start, stop in self._segments.get(cell, ())) // self.bundle.unit
                units = self._pieces[cell] = self.model.new_int_var(0, most, f"units of {self.bundle.name} in {cell.name}")
                self.model.add(self.bundle.unit * units == held)
        return self._pieces[cell]

    def held(self, cell: Cell) -> Amount:
        """How many resources it holds in the cell."""
        return total(self._between(start, stop) for start, stop in self._segments.get(cell, ()))

    def held_on(self, node: int) -> Amount:
        """How many resources it holds on this node."""
        return total(self._between(start, stop) for start, stop in self._of_node(node))

    def _of_node(self, node: int) -> list[tuple[int, int]]:
        first = self.numbering.first.get(node)
        return [] if first is None else [(first, first + self.places.counts[self.places.nodes[first]])]

    def _between(self, start: int, stop: int) -> Amount:
        """How many of these resource ranks it holds."""
        inside = stop - start
        open_there = self._begun.before(stop) - self._ended.upto(stop)
        # Whole, if it has begun before their end and does not end among them; else up to its end; less what is before its beginning.
        return inside * open_there + self._ended.moment(start, stop + 1) - self._begun.moment(start, stop)

    def covers(self, node: int, index: int) -> Amount:
        """1 exactly if the bundle holds this resource of the node."""
        first = self.numbering.first.get(node)
        return 0 if first is None else self._begun.before(first + index + 1) - self._ended.upto(first + index)

    def touches(self, cells: Iterable[Cell]) -> Amount:
        """1 exactly if it holds something in one of these cells."""
        runs: list[tuple[int, int]] = []
        for start, stop in sorted(run for cell in cells for run in self._segments.get(cell, ())):
            if runs and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], stop)
            else:
                runs.append((start, stop))
        there = [self._begun.before(stop) - self._ended.upto(start) for start, stop in runs]
        if all(isinstance(amount, int) for amount in there):
            return max((amount for amount in there if isinstance(amount, int)), default=0)
        some = self.model.new_bool_var(f"{self.bundle.name} is there")
        if len(there) < 2:
            self.model.add(some == there[0])
            return some
        for amount in there:
            self.model.add(some >= amount)
        self.model.add(some <= total(there))
        return some

    def extra_nodes(self) -> Amount:
        """On how many nodes it lies beyond the fewest that could hold it."""
        if self._at:
            lies = {at: self.places.covered(at[0], at[0] + at[1] * self.bundle.unit) for at in self._at}
            return self.worth(lambda place: lies[place] - fewest_nodes(self.numbering, place[1] * self.bundle.unit))
        nodes = self.places.nodes
        lies_on = self._ended.worth(lambda at: nodes[at - 1] + 1) - self._begun.worth(lambda at: nodes[at])
        largest, length = max(self.places.counts, default=1), self._ended.position() - self._begun.position()
        fewest = self.model.new_int_var(0, len(self.places.counts), f"fewest nodes of {self.bundle.name}")
        self.model.add(largest * fewest >= length)
        self.model.add(largest * fewest <= length + largest - 1)
        return lies_on - fewest

    def worth(self, value: Callable[[Place], int]) -> Amount:
        """What the place that is taken is worth. Raises ValueError where beginnings and ends are decided apart."""
        self._need_places()
        return weighted((literal, value(place)) for place, literal in self._at.items())

    def follows(self, other: Ranges) -> None:
        """It begins where the other one, in the same numbering, ends."""
        for begins, ends in zip(*self._begun.at_the_same(other._ended)):
            self.model.add(begins == ends)

    def first_and_end(self) -> tuple[Amount, Amount]:
        """The first resource rank, and the one after the last."""
        return self._begun.position(), self._ended.position()

    def rests(self, step: int) -> tuple[list[Amount], list[Amount]]:
        """For every rest of a division by `step`, 1 exactly if the first resource rank leaves it; the same of the one after the last."""
        begun, ended = ([edges.leaves(rest, step) for rest in range(step)] for edges in (self._begun, self._ended))
        return begun, ended

    def interval(self) -> cp_model.IntervalVar:
        """The stretch of its numbering that it holds, as an interval."""
        if self._interval is None:
            size = self.numbering.size
            start, length, end = (self.model.new_int_var(0, size, f"{what} of {self.bundle.name}") for what in ("start", "length", "end"))
            self.model.add(start == self._begun.position())
            self.model.add(end == self._ended.position())
            self.model.add(length == self.bundle.unit * self._units)
            self._interval = self.model.new_interval_var(start, length, end, self.bundle.name)
        return self._interval

    def only(self, places: set[Place]) -> None:
        """One of these places is taken. Where beginnings and ends are decided apart it must be a single one, else raises ValueError."""
        if self._at or len(places) != 1:
            self._need_places()
            self.model.add_bool_and([literal.negated() for place, literal in self._at.items() if place not in places])
            return
        ((start, units),) = places
        self.model.add(self._begun.position() == start)
        self.model.add(self._ended.position() == start + units * self.bundle.unit)

    def hint(self, place: Place) -> None:
        """This may be the place."""
        for each, literal in self._at.items():
            self.model.add_hint(literal, each == place)
        self._begun.hint(place[0], literals=not self._at)
        self._ended.hint(place[0] + place[1] * self.bundle.unit, literals=not self._at)

    def value(self, value: Callable[[cp_model.IntVar], int]) -> Place:
        """The place that is taken, given a way to read one variable."""
        start, stop = self._begun.value(value), self._ended.value(value)
        return start, (stop - start) // self.bundle.unit


def _segments(layout: Layout, numbering: Numbering) -> dict[Cell, list[tuple[int, int]]]:
    """Cell -> from which to before which resource rank its nodes are numbered; several stretches where others are between."""
    found: dict[Cell, list[tuple[int, int]]] = {}
    position = 0
    for stretch in numbering.stretches:
        runs = found.setdefault(layout.cell_of[stretch.node_rank], [])
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + stretch.count)
        else:
            runs.append((position, position + stretch.count))
        position += stretch.count
    return found
