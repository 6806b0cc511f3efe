"""Contiguous bundles in CP-SAT: where they begin and end, what they cover and leave.

Literals were measured to prove optima where an integer start with max/min overlap left a gap of a third. Everything that is said of a
range is a sum over where it begins and where it ends, so that a place costs no term for every node that it covers: up to each border
between cells one literal says whether it has begun before, and one whether it has ended.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Callable, Iterable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model

from ...models.machines.node import Node
from ...models.machines.node_group import Numbering
from ..layout.bundle import Bundle
from ..layout.cells import Cell, numa_domains
from ..layout.layout import Layout
from ..layout.parts import bits
from ..layout.pools import Pool
from ..layout.ranges import Place, Places, by_ends, fewest_nodes, lengths, whole_places
from .amount import Amount, Saying, total


class Edges:
    """The positions that one edge of a range may have, each with its literal.

    At each of the given borders a literal of its own says whether the edge lies before it, so that sums from anywhere are short.
    """

    def __init__(self, model: cp_model.CpModel, name: str, borders: Sequence[int]) -> None:
        self.model, self.name, self._borders = model, name, sorted(borders)
        self._added: list[tuple[int, cp_model.IntVar]] = []

    def add(self, position: int, literal: cp_model.IntVar) -> cp_model.IntVar:
        """One more position that the edge has if this literal is true; to be called before anything is asked of sums."""
        self._added.append((position, literal))
        return literal

    def literals(self) -> list[cp_model.IntVar]:
        """All of them; exactly one is true."""
        return [literal for _, literal in self._added]

    @cached_property
    def _sorted(self) -> list[tuple[int, cp_model.IntVar]]:
        return sorted(self._added, key=lambda its: its[0])

    @cached_property
    def _positions(self) -> list[int]:
        return [position for position, _ in self._sorted]

    def _from_to(self, start: int, stop: int) -> list[tuple[int, cp_model.IntVar]]:
        """Those at positions from `start` to before `stop`."""
        return self._sorted[bisect_left(self._positions, start) : bisect_left(self._positions, stop)]

    @cached_property
    def _chain(self) -> list[Amount]:
        """For each border, 1 exactly if the edge lies before it."""
        found: list[Amount] = []
        before: Amount = 0
        for number, border in enumerate(self._borders):
            between = self._from_to(self._borders[number - 1] if number else min(self._positions, default=0), border)
            if between and border > self._positions[-1]:
                before = 1
            elif between:
                literals = [literal for _, literal in between]
                if isinstance(before, int) and len(literals) == 1:
                    before = literals[0]
                else:
                    past = self.model.new_bool_var(f"{self.name} before {border}")
                    self.model.add(past == cp_model.LinearExpr.sum(literals) + before)
                    before = past
            found.append(before)
        return found

    def before(self, position: int) -> Amount:
        """1 exactly if it lies before this position."""
        number = bisect_right(self._borders, position) - 1
        start = self._borders[number] if number >= 0 else min(self._positions, default=0)
        return total([self._chain[number] if number >= 0 else 0, *(literal for _, literal in self._from_to(start, position))])

    def upto(self, position: int) -> Amount:
        """1 exactly if it lies at this position or before."""
        return self.before(position + 1)

    def moment(self, start: int, stop: int) -> Amount:
        """How far beyond `start` it lies, if it is from there to before `stop`; else 0."""
        return weighted((literal, position - start) for position, literal in self._from_to(start, stop))

    def at_the_same(self, other: Edges) -> tuple[list[Amount], list[Amount]]:
        """For every position that one of two edges may have, whether this one is there, and whether the other one is."""
        positions = sorted({*self._positions, *other._positions})
        mine, theirs = ([total(literal for _, literal in edges._from_to(at, at + 1)) for at in positions] for edges in (self, other))
        return mine, theirs

    def worth(self, value: Callable[[int], int]) -> Amount:
        """What its position is worth."""
        return weighted((literal, value(position)) for position, literal in self._sorted)

    def leaves(self, rest: int, step: int) -> Amount:
        """1 exactly if its position leaves this rest when it is divided by `step`."""
        return self.worth(lambda position: int(position % step == rest))

    def position(self) -> Amount:
        """Where it lies."""
        return self.worth(lambda position: position)

    def hint(self, position: int, literals: bool) -> None:
        """It may lie here; with `literals` they are told too, not only those at the borders."""
        for at, literal in self._sorted if literals else ():
            self.model.add_hint(literal, at == position)
        known = {id(literal) for literal in self.literals()}
        for border, past in zip(self._borders, self._chain):
            if isinstance(past, cp_model.IntVar) and id(past) not in known:
                known.add(id(past))
                self.model.add_hint(past, position < border)

    def value(self, value: Callable[[cp_model.IntVar], int]) -> int:
        """Where it lies, given a way to read one variable."""
        return next(position for position, literal in self._sorted if value(literal))


def weighted(terms: Iterable[tuple[cp_model.IntVar, int]]) -> Amount:
    """The sum of variables times numbers."""
    its = [(variable, number) for variable, number in terms if number]
    return cp_model.LinearExpr.weighted_sum([variable for variable, _ in its], [number for _, number in its]) if its else 0


def each_place(
    model: cp_model.CpModel, layout: Layout, bundle: Bundle, at: dict[Place, cp_model.IntVar], begun: Edges, ended: Edges
) -> Amount:
    """A literal for every place, which is added to `at`, and to where it begins and ends. Returns how many units the range has."""
    for start, units in whole_places(layout, bundle):
        literal = at[start, units] = model.new_bool_var(f"{bundle.name} at {start}, {units} units")
        begun.add(start, literal)
        ended.add(start + units * bundle.unit, literal)
    model.add_exactly_one(list(at.values()))
    return weighted((literal, units) for (_, units), literal in at.items())


def each_end(model: cp_model.CpModel, layout: Layout, bundle: Bundle, places: Places, begun: Edges, ended: Edges) -> Amount:
    """A literal for every beginning and one for every end; ranges inside a node that are neither at its edges are places of their own.

    Returns how many units the range has.
    """
    every, size = lengths(layout, bundle), places.numbering.size
    starts = [at for at in range(size) if at <= places.last_start and places.is_free(at, at + 1) and places.may_begin(at)]
    stops = [at for at in range(1, size + 1) if at >= places.first_stop and places.is_free(at - 1, at) and places.may_end(at)]
    runs: dict[tuple[int, int], list[tuple[cp_model.IntVar, int]]] = {}  # what lies in one solid stretch begins and ends in it
    for at in starts:
        literal = begun.add(at, model.new_bool_var(f"{bundle.name} from {at}"))
        runs.setdefault(places.run_from(at), []).append((literal, 1))
    for at in stops:
        literal = ended.add(at, model.new_bool_var(f"{bundle.name} to {at}"))
        runs.setdefault(places.run_to(at), []).append((literal, -1))
    for start, stop in _inside(places, every, set(starts), set(stops)):
        literal = begun.add(start, model.new_bool_var(f"{bundle.name} from {start} to {stop}"))
        ended.add(stop, literal)
    for edges in (begun, ended):
        model.add_exactly_one(edges.literals())
    for its in runs.values():
        model.add(weighted(its) == 0)
    units = model.new_int_var_from_domain(cp_model.Domain.from_values(list(every)), f"units of {bundle.name}")
    model.add(bundle.unit * units == ended.position() - begun.position())
    return units


def _inside(places: Places, every: Iterable[int], starts: set[int], stops: set[int]) -> Iterator[Place]:
    """Ranges inside one node that do not both begin where one over several nodes may, and end where one may, in one run."""
    largest = max(places.counts, default=0)
    for length in (units * places.unit for units in every if 0 < units * places.unit <= largest):
        for start in range(places.numbering.size - length + 1):
            stop = start + length
            one = places.nodes[start] == places.nodes[stop - 1]
            edges = start in starts and stop in stops and places.run_from(start) == places.run_to(stop)
            if one and not edges and places.holds_enclosed(start, stop) and places.is_free(start, stop) and places.is_whole(start, stop):
                yield start, stop


class Slots:
    """Room for pieces of every size, cell by cell."""

    def __init__(self, saying: Saying, layout: Layout, ranges: Mapping[Bundle, Ranges]) -> None:
        self._saying, self._layout, self._ranges = saying, layout, ranges
        self._slots: dict[tuple[Cell, Pool, int, bool], Amount] = {}

    def slots(self, cell: Cell, pool: Pool, size: int, inside_numa: bool) -> Amount:
        """The sum of floor(left / size) over the nodes of a cell, or over their NUMA domains."""
        key = (cell, pool, size, inside_numa)
        if key not in self._slots:
            if not pool.ranged:
                self._slots[key] = self._layout.room(cell, pool).pieces(size, inside_numa)
            elif inside_numa:
                each = [(node, mask) for node in cell.nodes for mask in numa_domains(node, pool.kind)]
                self._slots[key] = total(self._in_domain(node, mask, pool, size) for node, mask in each)
            elif not any(self._layout.enclosed_in(each, cell) for each in pool.ranged) and all(
                each.unit % size == 0 for each in pool.ranged
            ):
                # A range takes whole pieces of every node, so that nothing is lost where it begins and ends.
                taken = total(bundle.unit // size * self._ranges[bundle].units(cell) for bundle in pool.ranged)
                self._slots[key] = self._layout.room(cell, pool).pieces(size) - taken
            else:
                self._slots[key] = total(self._on_node(node.rank, pool, size) for node in cell.nodes)
        return self._slots[key]

    def _on_node(self, node: int, pool: Pool, size: int) -> Amount:
        free = pool.free.get(node, 0).bit_count()
        enclosed = sum(self._layout.enclosed.get(bundle, {}).get(node, 0).bit_count() for bundle in pool.ranged)
        held = total(self._ranges[bundle].held_on(node) for bundle in pool.ranged) - enclosed
        if isinstance(held, int):
            return (free - held) // size
        left = self._saying.integer(0, free // size, f"slots of {size} on node {node}")
        self._saying.require(size * left + held <= free)
        return left

    def _in_domain(self, node: Node, mask: int, pool: Pool, size: int) -> Amount:
        left = self._left(node, mask, pool)
        if isinstance(left, int):
            return left // size
        free = (pool.free.get(node.rank, 0) & mask).bit_count()
        count = self._saying.integer(0, free // size, f"slots of {size} in a NUMA domain of node {node.rank}")
        self._saying.require(size * count <= left)
        return count

    def _left(self, node: Node, mask: int, pool: Pool) -> Amount:
        free = pool.free.get(node.rank, 0) & mask
        return free.bit_count() - total(self._ranges[bundle].covers(node.rank, index) for bundle in pool.ranged for index in bits(free))

    def left_in_domains(self, node: Node, pool: Pool) -> list[Amount]:
        """What is left in each NUMA domain of a node."""
        return [self._left(node, mask, pool) for mask in numa_domains(node, pool.kind)]

    def pieces_by_domain(self, bundle: Bundle, node: Node, units: Amount) -> list[Amount]:
        """How the pieces of so many units on a node are dealt to its NUMA domains."""
        free, enclosed = self._layout.pool_of[bundle].free.get(node.rank, 0), self._layout.enclosed.get(bundle, {}).get(node.rank, 0)
        its: list[Amount] = []
        for mask in numa_domains(node, bundle.kind):
            least, most = -(-(enclosed & mask).bit_count() // bundle.piece), ((free | enclosed) & mask).bit_count() // bundle.piece
            its.append(self._saying.integer(least, max(least, most), f"pieces of {bundle.name} in a NUMA domain"))
        self._saying.require(bundle.unit // bundle.piece * units == total(its))
        return its


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
