"""Which measurements count where several say how long a component takes with the same degrees."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.workload import SECOND, Measurement, TimedComponent
from placewright.planner.times import time_of
from placewright.report.planning.assumptions import assumptions


def measured(count: int, seconds: int, model: str = "", **degrees: int) -> Measurement:
    its = {"named": tuple(degrees)} if degrees else {}
    return Measurement(count, seconds * SECOND, "", Parallel(**degrees) if degrees else None, model, **its)  # type: ignore[arg-type]


def seconds_of(timed: TimedComponent, count: int, parallel: Parallel, model: str = "") -> float | None:
    time = time_of(timed, "", count, parallel, model)
    return None if time is None else time.nanoseconds / SECOND


@pytest.mark.parametrize("turned", [False, True])
def test_all_times_that_hold_are_points_of_the_same_curve(turned: bool) -> None:
    rows = [measured(8, 80, tp=2), measured(32, 20, pp=2), measured(2, 200)]
    timed = TimedComponent(tuple(reversed(rows) if turned else rows))
    assert [seconds_of(timed, count, Parallel(2, 2)) for count in (2, 8, 16, 32, 64)] == [200, 80, 40, 20, 10]
    assert seconds_of(timed, 16, Parallel(2, 1)) == pytest.approx(80 * (80 / 200) ** 0.5, abs=1e-6)  # by 2 and 8, whoever names tp
    assert seconds_of(timed, 8, Parallel(1, 1)) == 50  # 200 on 2, linearly


def test_on_a_count_the_time_that_names_most_degrees_stands() -> None:
    rows = (measured(8, 80, "H100", tp=2), measured(8, 70, "", tp=2), measured(8, 60, "H100"), measured(8, 50))
    for count in range(len(rows)):
        assert seconds_of(TimedComponent(rows[count:]), 8, Parallel(2, 2), "H100") == 80 - 10 * count
    pairs = [measured(8, 90, pp=2), measured(8, 100, tp=2)]
    assert seconds_of(TimedComponent(tuple(pairs)), 8, Parallel(2, 2)) == 100  # of equally many, tp before pp
    assert seconds_of(TimedComponent((*pairs, measured(8, 70, pp=2, cp=1))), 8, Parallel(2, 2)) == 70


def test_of_two_measurements_with_the_same_degrees_the_one_that_names_more_of_them_counts() -> None:
    rows = (measured(8, 90, tp=2, pp=1), measured(8, 100, tp=2))
    assert [seconds_of(TimedComponent(rows), 8, its) for its in (Parallel(2, 1), Parallel(2, 2))] == [90, 100]


@pytest.mark.parametrize("scaling", ["power", "linear", "table"])
def test_what_was_measured_on_a_count_counts_before_what_follows_from_closer_measurements(scaling: str) -> None:
    timed = TimedComponent((measured(12, 43), measured(8, 90, tp=2), measured(9, 30, tp=2), measured(12, 50, "H100")), scaling)
    assert [seconds_of(timed, count, Parallel(2)) for count in (8, 9, 12)] == [90, 30, 43]
    assert seconds_of(timed, 12, Parallel(2), "H100") == 50


def planned_of(tmp_path: Path, text: str) -> pw.Account:
    file = tmp_path / "job.yaml"
    file.write_text(text, "utf-8")
    return pw.account(file)


def test_a_plan_says_which_measurements_a_time_follows_from(tmp_path: Path) -> None:
    account = planned_of(
        tmp_path,
        "cluster: 1x32xH100\ncomponents:\n  actor:\n    accelerators: 32\n    parallel: {tp: 2, pp: 2}\n"
        "    seconds: [{accelerators: 8, tp: 2, seconds: 100}, {accelerators: 16, seconds: 50}]\n",
    )
    assert account.planned.best.nanoseconds == 25 * SECOND
    (basis,) = account.bases
    assert (basis.counts, basis.named, basis.any_degrees) == ((8, 16), ("tp 2", "any degrees"), "")
    assert "actor on 32: extrapolated from 8 (tp 2) and 16 (any degrees) (power), 2.0x beyond" in assumptions(account)


def test_a_far_time_that_names_degrees_does_not_outweigh_a_near_one(tmp_path: Path) -> None:
    account = planned_of(
        tmp_path,
        """
cluster: {nodes: [{accelerators: {count: 8, model: H100, memory: 80GiB}}]}
components:
  rollout: {parallel: {tp: [1, 2]}, seconds: [{accelerators: 6, seconds: 23.3, tp: 1}], memory: 60GiB}
  reward:
    parallel: {tp: [1, 2]}
    seconds: [{accelerators: 2, seconds: 28}, {accelerators: 4, seconds: 18, tp: 2}, {accelerators: 16, seconds: 6, tp: 1}]
    memory: 60GiB
  actor: {seconds: {6: 42, 12: 27}, parallel: {tp: [1, 2]}}
plan: {cost_model: steady, minimise: accelerators, budget: {seconds: 526}, nested: true}
""",
    )
    planned = account.planned
    assert planned.proved and planned.best.accelerators(planned.question) == 2
    assert planned.best.nanoseconds / SECOND == pytest.approx(178.39, abs=0.005)
    assert "reward on 1: extrapolated from 2 (any degrees) and 16 (tp 1) (power), 2.0x beyond" in assumptions(account)
