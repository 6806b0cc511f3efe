"""Long chains: few cuts of the iteration can be among the best, and with each of them few arrangements."""

from __future__ import annotations

import pytest
from placewright.solver.planning.check import faults
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.search import search

from ...test_very_many import job


@pytest.mark.parametrize(
    ("components", "accelerators", "seed", "takes"),
    [(8, 64, 1, 67_355_351_213), (8, 64, 2, None), (10, 16, 1, None), (10, 64, 2, 106_385_442_652), (12, 16, 1, None), (12, 64, 2, None)],
)
def test_chains_are_proved(components: int, accelerators: int, seed: int, takes: int | None) -> None:
    """Where each part of a cut by itself left 1 to 12 %, and where both came to the same and the accelerators were left open."""
    asked, model = job(components, accelerators, seed, chain=True), cost_model("stream")
    searched = search(asked, model, limit=5, count=4)
    assert searched.best is not None and searched.first_proved and searched.bound == searched.best.price[0]
    assert takes in (None, searched.bound)
    assert not list(faults(asked, model, searched.best.design))


def test_what_else_could_be_is_found_too() -> None:
    """Also where a single structure was looked at until that was proved to be the best."""
    searched = search(job(10, 64, 1, chain=True), cost_model("stream"), count=4)
    assert searched.first_proved and len(searched.found) == 4
    assert len({each.structure for each in searched.found}) == 4


@pytest.mark.parametrize("limit", [0.01, 0.1, 0.4])
def test_a_chain_cut_short_claims_nothing_that_is_not_so(limit: float) -> None:
    asked, model = job(10, 16, 1, chain=True), cost_model("stream")
    best = search(asked, model, limit=5).best
    searched = search(asked, model, limit=limit)
    assert best is not None and searched.bound is not None and searched.bound <= best.price[0]
    assert searched.best is None or searched.best.price >= best.price
    assert not searched.first_proved or (searched.best is not None and searched.best.price == best.price)


@pytest.mark.parametrize(("components", "accelerators", "seed"), [(10, 16, 1), (12, 64, 1)])
def test_what_the_model_keeps_none_of_is_not_looked_at(components: int, accelerators: int, seed: int) -> None:
    """RLinf's tool keeps two structures of a chain: its millions of others left 12 % open."""
    searched = search(job(components, accelerators, seed, chain=True), cost_model("rlinf"), limit=5)
    assert searched.first_proved and searched.best is not None and searched.bound == searched.best.price[0]
