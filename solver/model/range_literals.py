"""The literals of a range: one for each of its places, or one for each beginning and one for each end."""

from __future__ import annotations

from typing import Iterable, Iterator

from ortools.sat.python import cp_model

from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.ranges.places import Place, Places, lengths, whole_places
from .amount import Amount
from .edges import Edges, weighted


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
    starts = [at for at in range(size) if places.is_free(at, at + 1) and places.may_begin(at)]
    stops = [at for at in range(1, size + 1) if places.is_free(at - 1, at) and places.may_end(at)]
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
            if one and not edges and places.is_free(start, stop) and places.is_whole(start, stop):
                yield start, stop
