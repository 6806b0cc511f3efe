"""Which times of a component hold with the degrees that were chosen for it."""

from __future__ import annotations

from placewright.models.parallel import Parallel
from placewright.models.planning.workload import Measured, TimedComponent
from placewright.models.times import holding

ANY, ONE, TWO = Measured(8, 90), Measured(8, 60, parallel=Parallel(tp=1)), Measured(8, 50, parallel=Parallel(tp=2))


def test_what_names_the_degrees_goes_before_what_holds_with_any() -> None:
    assert holding(TimedComponent((ANY, ONE, TWO)), Parallel(tp=2)).measured == (Measured(8, 50),)
    assert holding(TimedComponent((ANY, ONE)), Parallel(tp=2)).measured == (ANY,)


def test_on_a_count_that_only_others_were_measured_on_it_is_what_these_say() -> None:
    """As it is planned: what was measured on a count counts there first."""
    there = Measured(12, 43)
    assert holding(TimedComponent((there, ANY, TWO)), Parallel(tp=2)).measured == (there, Measured(8, 50))
