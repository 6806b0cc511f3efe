"""What the solver says of a bound, in doubles, is a whole number here."""

from __future__ import annotations

import random
import time
from math import nextafter
from typing import Callable

import pytest
from ortools.sat.python import cp_model
from placewright.solver.model.engine import Method, Status, _whole, run


@pytest.mark.parametrize("bound", [0, 7, -7, 55_000_000_000, 125_000_000_000, 2**49 + 1])
def test_a_bound_that_is_rounded_is_the_whole_number_beside_it(bound: int) -> None:
    """55 seconds in ns came out as 55000000000.00001: no answer of 55 seconds is below what is proved."""
    assert {_whole(each) for each in (float(bound), nextafter(bound, 1e18), nextafter(bound, -1e18))} == {bound}


def test_a_bound_a_few_places_beside_a_whole_number_is_that_number() -> None:
    """5 seconds of traffic came out 16 places above: an answer that takes them was called wrong."""
    assert _whole(5_000_000_000.000015) == 5_000_000_000


@pytest.mark.parametrize(("bound", "whole"), [(6.2, 7), (-6.2, -6), (55_000_000_000.001, 55_000_000_001)])
def test_between_whole_numbers_the_next_one_is_the_bound(bound: float, whole: int) -> None:
    assert _whole(bound) == whole


@pytest.mark.parametrize("bound", [float("inf"), float("-inf"), 2.0**53, -(2.0**60)])
def test_nothing_is_proved_where_doubles_are_not_exact(bound: float) -> None:
    assert _whole(bound) is None


class Split:
    """A market split: small, and out of reach of any search in the limit."""

    def __init__(self) -> None:
        self.model, source = cp_model.CpModel(), random.Random(1)
        chosen = [self.model.new_bool_var("") for _ in range(50)]
        for _ in range(6):
            weights = [source.randrange(100) for _ in chosen]
            self.model.add(sum(weight * variable for weight, variable in zip(weights, chosen)) == sum(weights) // 2)

    def values(self, value: Callable[[cp_model.IntVar], int]) -> None:
        return None


def test_a_run_ends_at_its_processor_time_whatever_its_limit() -> None:
    began = time.process_time()
    assert run(Split(), 1000.0, seed=1, until=began + 0.3).status is Status.UNKNOWN
    assert time.process_time() - began < 3.0


class Cover:
    """Sets that cover all points, as few as possible; all of them are hinted, and what follows from that is not."""

    def __init__(self) -> None:
        self.model, source = cp_model.CpModel(), random.Random(2)
        self.sets = [self.model.new_bool_var("") for _ in range(60)]
        for _ in range(120):
            self.model.add_bool_or(source.sample(self.sets, 4))
        count = self.model.new_int_var(0, 60, "")
        self.model.add(count == sum(self.sets))
        self.model.minimize(count)
        for chosen in self.sets:
            self.model.add_hint(chosen, 1)

    def values(self, value: Callable[[cp_model.IntVar], int]) -> list[int]:
        return [value(chosen) for chosen in self.sets]


def test_neighbourhoods_improve_what_is_hinted_in_the_same_way_every_time() -> None:
    first, second = (run(Cover(), 0.5, seed=1, method=Method.NEIGHBOURHOODS) for _ in range(2))
    proved = run(Cover(), 60.0, seed=1, method=Method.AUTOMATIC)
    assert proved.status is Status.OPTIMAL
    assert (first.values, first.objective) == (second.values, second.objective)
    assert proved.objective <= first.objective < 60 and first.bound is not None and first.bound <= proved.objective
