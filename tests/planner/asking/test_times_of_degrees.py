"""Which measurements count where several say how long a component takes with the same degrees."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.measured import SECOND, Measured
from placewright.models.planning.workload import Timed
from placewright.planner.times import time_of

CHOICES = [Parallel(tp, pp) for tp in (1, 2) for pp in (1, 2)]


def measured(count: int, seconds: int, model: str = "", **degrees: int) -> Measured:
    its = {"named": tuple(degrees)} if degrees else {}
    return Measured(count, seconds * SECOND, "", Parallel(**degrees) if degrees else None, model, **its)  # type: ignore[arg-type]


def seconds_of(timed: Timed, count: int, parallel: Parallel, model: str = "") -> float | None:
    time = time_of(timed, "", count, parallel, model)
    return None if time is None else time.nanoseconds / SECOND


@pytest.mark.parametrize("turned", [False, True])
def test_times_that_name_different_degrees_are_not_mixed(turned: bool) -> None:
    rows = [measured(8, 100, tp=2), measured(16, 20, pp=2)]
    timed = Timed(tuple(reversed(rows) if turned else rows))
    assert seconds_of(timed, 32, Parallel(2, 2)) == 25  # as with tp 2 on 8, and not as with pp 2, which does not name tp
    assert seconds_of(timed, 16, Parallel(2, 2)) == 20  # measured on just 16, with any tp
    assert seconds_of(timed, 16, Parallel(1, 2)) == 20
    assert seconds_of(timed, 8, Parallel(2, 1)) == 100


def test_of_two_measurements_with_the_same_degrees_the_one_that_names_more_of_them_counts() -> None:
    rows = (measured(8, 90, tp=2, pp=1), measured(8, 100, tp=2))
    assert [seconds_of(Timed(rows), 8, its) for its in (Parallel(2, 1), Parallel(2, 2))] == [90, 100]


@pytest.mark.parametrize("scaling", ["power", "linear", "table"])
def test_what_was_measured_on_a_count_counts_before_what_follows_from_closer_measurements(scaling: str) -> None:
    timed = Timed((measured(12, 43), measured(8, 90, tp=2), measured(9, 30, tp=2), measured(12, 50, "H100")), scaling)
    assert [seconds_of(timed, count, Parallel(2)) for count in (8, 9, 12)] == [90, 30, 43]
    assert seconds_of(timed, 12, Parallel(2), "H100") == 50


def test_a_plan_takes_the_time_of_one_of_them(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "cluster: 1x32xH100\ncomponents:\n  actor:\n    accelerators: 32\n    parallel: {tp: 2, pp: 2}\n"
        "    seconds: [{accelerators: 8, tp: 2, seconds: 100}, {accelerators: 16, pp: 2, seconds: 20}]\n"
    )
    planned = pw.solve(file).planned
    assert planned is not None
    assert planned.best.nanoseconds == 25 * SECOND
