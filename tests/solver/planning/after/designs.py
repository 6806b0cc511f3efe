"""Best designs of random small questions, as planning would report them."""

from __future__ import annotations

from typing import Iterator

from placewright.models.planning.planned import Planned, Priced
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.costs.cost_model import iteration, segment_times
from placewright.solver.planning.searching.search import search

from ..questions import question


def each_planned(name: str, seeds: range) -> Iterator[Planned]:
    """The answers of those random questions that have one; `name` is that of a cost model."""
    model = cost_model(name)
    for seed in seeds:
        asked = question(seed, name == "stages")
        searched = search(asked, model, count=4)
        if searched.best is not None and searched.bound is not None:
            priced = [Priced(each.design, iteration(model, asked, each.design), tuple(segment_times(model, asked, each.design)))
                      for each in searched.found]  # fmt: skip
            yield Planned(asked, name, priced[0], searched.bound, searched.proved, tuple(priced[1:]), (), searched.structures)
