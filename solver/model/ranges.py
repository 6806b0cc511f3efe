"""Contiguous bundles in CP-SAT: start, end, covered and remaining resources.

Literals proved optima where an integer start with max/min overlap left a gap of a third (measured).
Every amount of a range is a sum over its start and its end, so a place costs no term per covered
node. At each border between cells, one literal says whether the range begins before it, and another
whether the range ends before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Callable, Iterable, Iterator, Sequence

from ortools.sat.python import cp_model

from ...models.machines.node_group import Numbering
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Layout
from ..layout.ranges import Place, Places, fewest_nodes, has_separate_ends, lengths, whole_places
from .amount import Amount, total


class Edges:
    """Possible positions of a range's edge, with a literal for every position.

    At each border a literal says whether the edge lies before it, so that sums stay short.
    """

    def __init__(self, model: cp_model.CpModel, name: str, borders: Sequence[int]) -> None:
        self.model, self.name, self._borders = model, name, sorted(borders)
        self._added: list[tuple[int, cp_model.IntVar]] = []

    def add(self, position: int, literal: cp_model.IntVar) -> cp_model.IntVar:
        """Add a possible position with its literal.

        Call this before any sum is used: sums are cached.
        """
        self._added.append((position, literal))
        return literal

    def literals(self) -> list[cp_model.IntVar]:
        """Return the literals of all positions; exactly one is true."""
        return [literal for _, literal in self._added]

    @cached_property
    def _sorted(self) -> list[tuple[int, cp_model.IntVar]]:
        return sorted(self._added, key=lambda entry: entry[0])

    @cached_property
    def _positions(self) -> list[int]:
        return [position for position, _ in self._sorted]

    def _slice(self, start: int, stop: int) -> list[tuple[int, cp_model.IntVar]]:
        """Return the entries with `start <= position < stop`."""
        return self._sorted[bisect_left(self._positions, start) : bisect_left(self._positions, stop)]

    @cached_property
    def _chain(self) -> list[Amount]:
        """Indicators of the borders: 1 exactly if the edge lies before the border."""
        indicators: list[Amount] = []
        before: Amount = 0
        for number, border in enumerate(self._borders):
            between = self._slice(self._borders[number - 1] if number else min(self._positions, default=0), border)
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
            indicators.append(before)
        return indicators

    def is_before(self, position: int) -> Amount:
        """Return 1 exactly if the edge lies before the position."""
        number = bisect_right(self._borders, position) - 1
        start = self._borders[number] if number >= 0 else min(self._positions, default=0)
        return total([self._chain[number] if number >= 0 else 0, *(literal for _, literal in self._slice(start, position))])

    def upto(self, position: int) -> Amount:
        """Return 1 exactly if the edge lies at the position or before."""
        return self.is_before(position + 1)

    def moment(self, start: int, stop: int) -> Amount:
        """Return `position - start` if `start <= position < stop`, else 0."""
        return weigh((literal, position - start) for position, literal in self._slice(start, stop))

    def list_pairs(self, peer: Edges) -> tuple[list[Amount], list[Amount]]:
        """Return indicators of both edges for every position of either."""
        positions = sorted({*self._positions, *peer._positions})
        own_literals, second_literals = (
            [total(literal for _, literal in edges._slice(at, at + 1)) for at in positions] for edges in (self, peer)
        )
        return own_literals, second_literals

    def worth(self, value: Callable[[int], int]) -> Amount:
        """Return `value` of the edge's position."""
        return weigh((literal, value(position)) for position, literal in self._sorted)

    def leaves(self, rest: int, step: int) -> Amount:
        """Return 1 exactly if the position is `rest` modulo `step`."""
        return self.worth(lambda position: int(position % step == rest))

    def position(self) -> Amount:
        """Return the position of the edge."""
        return self.worth(lambda position: position)

    def literals_at(self, position: int) -> dict[int, cp_model.IntVar]:
        """Return index -> literal of a position; ranges inside a node have further literals."""
        return {literal.index: literal for at, literal in self._sorted if at == position}

    def hint(self, position: int) -> None:
        """Hint a position to the solver, at the borders with separate literals."""
        literal_ids = {id(literal) for literal in self.literals()}
        for border, past in zip(self._borders, self._chain):
            if isinstance(past, cp_model.IntVar) and id(past) not in literal_ids:
                literal_ids.add(id(past))
                self.model.add_hint(past, position < border)

    def value(self, value: Callable[[cp_model.IntVar], int]) -> int:
        """Return the position in a solution; `value` reads a variable."""
        return next(position for position, literal in self._sorted if value(literal))


def weigh(terms: Iterable[tuple[cp_model.IntVar, int]]) -> Amount:
    """Return the sum of variables times coefficients."""
    nonzero = [(variable, number) for variable, number in terms if number]
    return cp_model.LinearExpr.weighted_sum([variable for variable, _ in nonzero], [number for _, number in nonzero]) if nonzero else 0


def add_place_literals(
    model: cp_model.CpModel, layout: Layout, bundle: Bundle, at: dict[Place, cp_model.IntVar], start_edges: Edges, stop_edges: Edges
) -> Amount:
    """Create a literal for every place and return the units of the range.

    The literals are added to `at`, `start_edges` and `stop_edges`.
    """
    for start, units in whole_places(layout, bundle):
        literal = at[start, units] = model.new_bool_var(f"{bundle.name} at {start}, {units} units")
        start_edges.add(start, literal)
        stop_edges.add(start + units * bundle.unit, literal)
    model.add_exactly_one(list(at.values()))
    return weigh((literal, units) for (_, units), literal in at.items())


def add_edge_literals(
    model: cp_model.CpModel, layout: Layout, bundle: Bundle, places: Places, start_edges: Edges, stop_edges: Edges
) -> Amount:
    """Create literals for every start and every end; return the units of the range.

    A range inside a single node has a literal of its own if its start and its end are not a pair of
    these edges.
    """
    every, size = lengths(layout, bundle), places.numbering.size
    starts = [at for at in range(size) if at <= places.last_start and places.is_free(at, at + 1) and places.may_begin(at)]
    stops = [at for at in range(1, size + 1) if at >= places.first_stop and places.is_free(at - 1, at) and places.may_end(at)]
    # A range begins and ends in the same solid stretch.
    runs: dict[tuple[int, int], list[tuple[cp_model.IntVar, int]]] = {}
    for at in starts:
        literal = start_edges.add(at, model.new_bool_var(f"{bundle.name} from {at}"))
        runs.setdefault(places.run_from(at), []).append((literal, 1))
    for at in stops:
        literal = stop_edges.add(at, model.new_bool_var(f"{bundle.name} to {at}"))
        runs.setdefault(places.run_to(at), []).append((literal, -1))
    for start, stop in _list_inside(places, every, set(starts), set(stops)):
        literal = start_edges.add(start, model.new_bool_var(f"{bundle.name} from {start} to {stop}"))
        stop_edges.add(stop, literal)
    for edges in (start_edges, stop_edges):
        model.add_exactly_one(edges.literals())
    for terms in runs.values():
        model.add(weigh(terms) == 0)
    units = model.new_int_var_from_domain(cp_model.Domain.from_values(list(every)), f"units of {bundle.name}")
    model.add(bundle.unit * units == stop_edges.position() - start_edges.position())
    return units


def _list_inside(places: Places, every: Iterable[int], starts: set[int], stops: set[int]) -> Iterator[Place]:
    """Yield ranges inside a single node that start and end literals do not express."""
    largest = max(places.counts, default=0)
    for length in (units * places.unit for units in every if 0 < units * places.unit <= largest):
        for start in range(places.numbering.size - length + 1):
            stop = start + length
            same_node = places.nodes[start] == places.nodes[stop - 1]
            edges = start in starts and stop in stops and places.run_from(start) == places.run_to(stop)
            if (
                same_node
                and not edges
                and places.holds_enclosed(start, stop)
                and places.is_free(start, stop)
                and places.is_whole(start, stop)
            ):
                yield start, stop


class Ranges:
    """Places (first resource rank, units) of a contiguous bundle; exactly one is taken.

    Each place has a literal. With too many places, start and end are separate decisions.
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
        if has_separate_ends(layout, bundle):
            self._units: Amount = add_edge_literals(model, layout, bundle, self.places, *edges)
        else:
            self._units = add_place_literals(model, layout, bundle, self._at, *edges)
        self._pieces: dict[Cell, Amount] = {}
        self._interval: cp_model.IntervalVar | None = None

    @property
    def starts(self) -> list[Place]:
        """All places.

        Raises ValueError if start and end are separate decisions (`has_separate_ends` in `layout/ranges.py`).
        """
        self._need_places()
        return list(self._at)

    def _need_places(self) -> None:
        if not self._at and self._begun.literals():
            raise ValueError(f"where {self.bundle.name} begins and where it ends are decided apart")

    @property
    def nodes(self) -> set[int]:
        """Nodes of the numbering."""
        return {stretch.node_rank for stretch in self.numbering.stretches}

    def units(self, cell: Cell | None = None) -> Amount:
        """Return the units in the cell, or in total."""
        if cell is None:
            return self._units
        if cell not in self._pieces:
            amount = self.count_held(cell)
            if isinstance(amount, int) or self.bundle.unit == 1:
                self._pieces[cell] = amount // self.bundle.unit if isinstance(amount, int) else amount
            else:
                most = sum(stop - start for start, stop in self._segments.get(cell, ())) // self.bundle.unit
                units = self._pieces[cell] = self.model.new_int_var(0, most, f"units of {self.bundle.name} in {cell.name}")
                self.model.add(self.bundle.unit * units == amount)
        return self._pieces[cell]

    def count_held(self, cell: Cell) -> Amount:
        """Return the resources in the cell."""
        return total(self._between(start, stop) for start, stop in self._segments.get(cell, ()))

    def count_held_on(self, node: int) -> Amount:
        """Return the resources on the node."""
        first = self.numbering.first.get(node)
        return 0 if first is None else self._between(first, first + self.places.counts[self.places.nodes[first]])

    def _between(self, start: int, stop: int) -> Amount:
        """Return the number of held resource ranks in `[start, stop)`."""
        length = stop - start
        spans_stop = self._begun.is_before(stop) - self._ended.upto(stop)
        # All ranks if the range begins before `stop` and ends after it, else those up to its end;
        # less those before its start.
        return length * spans_stop + self._ended.moment(start, stop + 1) - self._begun.moment(start, stop)

    def covers(self, node: int, index: int) -> Amount:
        """Return 1 exactly if the bundle holds this resource of the node."""
        first = self.numbering.first.get(node)
        return 0 if first is None else self._begun.is_before(first + index + 1) - self._ended.upto(first + index)

    def touches(self, cells: Iterable[Cell]) -> Amount:
        """Return 1 exactly if the range holds a resource in the cells."""
        runs: list[tuple[int, int]] = []
        for start, stop in sorted(run for cell in cells for run in self._segments.get(cell, ())):
            if runs and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], stop)
            else:
                runs.append((start, stop))
        indicators = [self._begun.is_before(stop) - self._ended.upto(start) for start, stop in runs]
        if all(isinstance(amount, int) for amount in indicators):
            return max((amount for amount in indicators if isinstance(amount, int)), default=0)
        some = self.model.new_bool_var(f"{self.bundle.name} is there")
        if len(indicators) < 2:
            self.model.add(some == indicators[0])
            return some
        for amount in indicators:
            self.model.add(some >= amount)
        self.model.add(some <= total(indicators))
        return some

    def extra_nodes(self) -> Amount:
        """Return the number of nodes beyond the minimum for the length."""
        if self._at:
            node_counts = {at: self.places.count_covered(at[0], at[0] + at[1] * self.bundle.unit) for at in self._at}
            return self.worth(lambda place: node_counts[place] - fewest_nodes(self.numbering, place[1] * self.bundle.unit))
        nodes = self.places.nodes
        lies_on = self._ended.worth(lambda at: nodes[at - 1] + 1) - self._begun.worth(lambda at: nodes[at])
        largest, length = max(self.places.counts, default=1), self._ended.position() - self._begun.position()
        fewest = self.model.new_int_var(0, len(self.places.counts), f"fewest nodes of {self.bundle.name}")
        self.model.add(largest * fewest >= length)
        self.model.add(largest * fewest <= length + largest - 1)
        return lies_on - fewest

    def worth(self, value: Callable[[Place], int]) -> Amount:
        """Return `value` of the chosen place.

        Raises ValueError if start and end are separate decisions.
        """
        self._need_places()
        return weigh((literal, value(place)) for place, literal in self._at.items())

    def follows(self, before: Ranges) -> None:
        """Require a start at the end of another range in the same numbering."""
        for start, stop in zip(*self._begun.list_pairs(before._ended)):
            self.model.add(start == stop)

    def first_and_end(self) -> tuple[Amount, Amount]:
        """Return the first resource rank, and the rank after the last."""
        return self._begun.position(), self._ended.position()

    def rests(self, step: int) -> tuple[list[Amount], list[Amount]]:
        """Return remainder indicators modulo `step`, for the start and for the end.

        Entry `r` is 1 exactly if the first resource rank (or the rank after the last) is `r` modulo
        `step`.
        """
        starts, stops = ([edges.leaves(rest, step) for rest in range(step)] for edges in (self._begun, self._ended))
        return starts, stops

    def interval(self) -> cp_model.IntervalVar:
        """Return the range in its numbering as an interval variable."""
        if self._interval is None:
            size = self.numbering.size
            start, length, end = (self.model.new_int_var(0, size, f"{label} of {self.bundle.name}") for label in ("start", "length", "end"))
            self.model.add(start == self._begun.position())
            self.model.add(end == self._ended.position())
            self.model.add(length == self.bundle.unit * self._units)
            self._interval = self.model.new_interval_var(start, length, end, self.bundle.name)
        return self._interval

    def only(self, selection: Iterable[Place]) -> None:
        """Restrict the range to some places.

        If start and end are separate decisions, there must be a single place; otherwise raises
        ValueError.
        """
        places = set(selection)
        if self._at or len(places) != 1:
            self._need_places()
            self.model.add_bool_and([literal.negated() for place, literal in self._at.items() if place not in places])
            return
        ((start, units),) = places
        self.model.add(self._begun.position() == start)
        self.model.add(self._ended.position() == start + units * self.bundle.unit)

    def hint(self, place: Place) -> None:
        """Hint a place to the solver."""
        start, stop = place[0], place[0] + place[1] * self.bundle.unit
        true_indices = {self._at[place].index} if self._at else self._choose_literals(start, stop)
        literals = (*self._at.values(), *self._begun.literals(), *self._ended.literals())
        for literal in {literal.index: literal for literal in literals}.values():
            self.model.add_hint(literal, literal.index in true_indices)
        self._begun.hint(start)
        self._ended.hint(stop)

    def _choose_literals(self, start: int, stop: int) -> set[int]:
        """Return the indices of the literals of a place: its single one, else one of each end."""
        starts, stops = self._begun.literals_at(start), self._ended.literals_at(stop)
        single = starts.keys() & stops.keys()
        of_pairs = {literal.index for literal in self._begun.literals()} & {literal.index for literal in self._ended.literals()}
        return single or (starts.keys() | stops.keys()) - of_pairs

    def value(self, value: Callable[[cp_model.IntVar], int]) -> Place:
        """Return the chosen place; `value` reads a variable."""
        start, stop = self._begun.value(value), self._ended.value(value)
        return start, (stop - start) // self.bundle.unit


def _segments(layout: Layout, numbering: Numbering) -> dict[Cell, list[tuple[int, int]]]:
    """Return cell -> ranges of resource ranks (start, stop) on its nodes.

    A cell has several ranges if nodes of other cells lie between.
    """
    segments: dict[Cell, list[tuple[int, int]]] = {}
    position = 0
    for stretch in numbering.stretches:
        runs = segments.setdefault(layout.cell_of[stretch.node_rank], [])
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + stretch.count)
        else:
            runs.append((position, position + stretch.count))
        position += stretch.count
    return segments
