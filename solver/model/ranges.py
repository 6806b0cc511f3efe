"""A contiguous bundle in CP-SAT: one literal per place where it could be, and from them what it covers on every node.

Literals per start were measured to prove optima where an integer start with max/min overlap left a gap of a third.
"""

from __future__ import annotations

from typing import Callable, Union

from ortools.sat.python import cp_model

from ..layout.layout import Bundle, Layout
from ..layout.places import Place, whole_places
from ..objectives.nodes_of_ranges import fewest_nodes


class Ranges:
    """The places of one contiguous bundle: (first resource rank, units), of which exactly one is taken."""

    def __init__(self, model: cp_model.CpModel, layout: Layout, bundle: Bundle) -> None:
        self.model, self.bundle = model, bundle
        self.numbering = layout.numbering(bundle)
        self.starts = list(whole_places(layout, bundle))
        self._at = {place: model.new_bool_var(f"{bundle.name} at {place[0]}, {place[1]} units") for place in self.starts}
        model.add_exactly_one(list(self._at.values()))
        terms: dict[int, list[tuple[cp_model.IntVar, int]]] = {}
        self._pieces: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
        for place, literal in self._at.items():
            start, units = place
            pieces = self._pieces[place] = {}
            for stretch, first, count in self.numbering.pieces(start, start + units * bundle.unit):
                terms.setdefault(stretch.node_rank, []).append((literal, count // bundle.unit))
                pieces[stretch.node_rank] = (first, first + count)
        self._on = {node: cp_model.LinearExpr.weighted_sum(*map(list, zip(*its))) for node, its in terms.items()}

    @property
    def nodes(self) -> set[int]:
        """Every node that some place covers."""
        return set(self._on)

    def units_on(self, node: int) -> Union[cp_model.LinearExpr, int]:
        """How many units are on this node."""
        return self._on.get(node, 0)

    def covers(self, node: int, index: int) -> Union[cp_model.LinearExpr, int]:
        """1 exactly if the bundle holds this resource of the node."""
        its = []
        for place, pieces in self._pieces.items():
            first, stop = pieces.get(node, (0, 0))
            if first <= index < stop:
                its.append(self._at[place])
        return cp_model.LinearExpr.sum(its) if its else 0

    def extra_nodes(self) -> cp_model.LinearExpr:
        """On how many nodes it lies beyond the fewest that could hold it."""
        extra = [len(pieces) - fewest_nodes(self.numbering, place[1] * self.bundle.unit) for place, pieces in self._pieces.items()]
        return cp_model.LinearExpr.weighted_sum(list(self._at.values()), extra)

    def worth(self, value: Callable[[Place], int]) -> cp_model.LinearExpr:
        """What the place that is taken is worth."""
        return cp_model.LinearExpr.weighted_sum(list(self._at.values()), [value(place) for place in self._at])

    def interval(self) -> cp_model.IntervalVar:
        """The stretch of its numbering that it holds, as an interval."""
        literals = list(self._at.values())
        start = self.model.new_int_var(0, self.numbering.size, f"start of {self.bundle.name}")
        size = self.model.new_int_var(0, self.numbering.size, f"size of {self.bundle.name}")
        self.model.add(start == cp_model.LinearExpr.weighted_sum(literals, [place[0] for place in self._at]))
        self.model.add(size == cp_model.LinearExpr.weighted_sum(literals, [place[1] * self.bundle.unit for place in self._at]))
        end = self.model.new_int_var(0, self.numbering.size, f"end of {self.bundle.name}")
        return self.model.new_interval_var(start, size, end, self.bundle.name)

    def only(self, places: set[tuple[int, int]]) -> None:
        """One of these places is taken."""
        self.model.add_bool_and([literal.negated() for place, literal in self._at.items() if place not in places])

    def hint(self, place: tuple[int, int]) -> None:
        """This may be the place."""
        for each, literal in self._at.items():
            self.model.add_hint(literal, each == place)

    def value(self, value: Callable[[cp_model.IntVar], int]) -> tuple[int, int]:
        """The place that is taken, given a way to read one variable."""
        return next(place for place, literal in self._at.items() if value(literal))
