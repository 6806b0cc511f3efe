"""Which times of a component hold with the degrees that were chosen for it."""

from __future__ import annotations

from placewright.models.parallel import Parallel
from placewright.models.planning.workload import Measurement, TimedComponent
from placewright.models.times import holding

ANY, ONE, TWO = Measurement(8, 90), Measurement(8, 60, parallel=Parallel(tp=1)), Measurement(8, 50, parallel=Parallel(tp=2))


def test_what_names_the_degrees_goes_before_what_holds_with_any() -> None:
    assert holding(TimedComponent((ANY, ONE, TWO)), Parallel(tp=2)).measured == (Measurement(8, 50),)
    assert holding(TimedComponent((ANY, ONE)), Parallel(tp=2)).measured == (ANY,)


def test_on_a_count_that_only_others_were_measured_on_it_is_what_these_say() -> None:
    """As it is planned: what was measured on a count counts there first."""
    there = Measurement(12, 43)
    assert holding(TimedComponent((there, ANY, TWO)), Parallel(tp=2)).measured == (there, Measurement(8, 50))
