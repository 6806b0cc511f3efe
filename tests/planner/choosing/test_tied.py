"""Components that have whatever degrees another one has are planned with it: the best of what they take together."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import UNDECIDED, Answer
from placewright.models.component import Component, Parallel
from placewright.models.planning.workload import SECOND, After, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.planner.policies import plan_leading_choices
from placewright.solver.searching.search import solve
from placewright.solver.session import Session

from ...solver.cases import cluster, problem

DEGREES = (Parallel(tp=1), Parallel(tp=2), Parallel(tp=4))
NAMES = ("actor", "ref", "rollout")
Times = dict[str, dict[Parallel, int]]


def component(name: str, times: dict[Parallel, int]) -> Component:
    points = tuple(Measurement(8, seconds * SECOND, parallel=parallel) for parallel, seconds in times.items())
    return Component(name, least=8, most=8, parallel=DEGREES[0], timed=TimedComponent(points))


def job(times: Times) -> Problem:
    """Three components on the same 8 accelerators, one after the other; the second has the degrees of the first."""
    asked = problem(cluster({"count": 8}), *(component(name, times[name]) for name in NAMES), together="actor+ref ref+rollout")
    workload = Workload((After("rollout", "ref", True), After("ref", "actor", True)))
    return replace(
        asked,
        job=replace(asked.job, choices={"actor": DEGREES}, planning=replace(asked.job.planning, workload=workload, tied={"ref": "actor"})),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_degrees_are_those_with_which_all_of_them_take_least(seed: int) -> None:
    random = Random(seed)
    times: Times = {name: {parallel: random.randint(1, 100) for parallel in DEGREES} for name in NAMES}
    answer = Solver(solve, 10.0)(job(times))
    assert answer.plan is not None and answer.planned is not None
    takes = {parallel: times["actor"][parallel] + times["ref"][parallel] + times["rollout"][DEGREES[0]] for parallel in DEGREES}
    assert answer.planned.best.nanoseconds == min(takes.values()) * SECOND
    assert answer.planned.proved and answer.planned.bound == answer.planned.best.nanoseconds
    assert not answer.planned.alternatives_open and not answer.planned.best.traffic
    assert answer.plan.degrees["ref"] == answer.plan.degrees["actor"]
    assert takes[answer.plan.degrees["actor"]] == min(takes.values())


def test_a_single_choice_that_is_not_the_files_own_is_that_of_the_other_too() -> None:
    """As where of several only one divides the model."""
    times: Times = {name: dict.fromkeys(DEGREES, 10) for name in NAMES}
    its = job(times)
    answer = Solver(solve, 10.0)(replace(its, job=replace(its.job, choices={"actor": DEGREES[1:2]})))
    assert answer.planned is not None and answer.plan is not None
    assert {name: each.parallel for name, each in answer.planned.best.design.options.items() if name != "rollout"} == dict.fromkeys(
        ("actor", "ref"), DEGREES[1]
    )
    assert answer.plan.degrees == dict.fromkeys(("actor", "ref"), DEGREES[1])


def test_what_one_choice_leaves_open_is_open_of_the_whole() -> None:
    times: Times = {name: dict.fromkeys(DEGREES, 10) for name in NAMES}
    its = job(times)
    halves = tuple(replace(each, least=4, most=4) for each in its.components)  # who shares with whom is open, and no sum tells it
    cut = Solver(solve, 0.0)(replace(its, job=replace(its.job, components=halves, relations=())))
    assert cut.planned is None or not cut.planned.proved


def test_where_no_degrees_are_open_the_file_itself_is_planned() -> None:
    its = job({name: dict.fromkeys(DEGREES, 10) for name in NAMES})
    planned, answer = list[Problem](), Answer(UNDECIDED)
    for choices in ({}, {"actor": DEGREES[:1]}):
        asked = replace(its, job=replace(its.job, choices=choices))
        with Session() as session:
            assert plan_leading_choices(asked, lambda choice: planned.append(choice) or answer, 10.0, session) is answer
        assert planned.pop() is asked and not planned


def too_slow() -> Problem:
    """Nothing keeps to 45 seconds: 80 with tp 1, 60 with tp 2 and with tp 4."""
    seconds = {"actor": (50, 30, 40), "ref": (20, 20, 10), "rollout": (10, 10, 10)}
    its = job({name: dict(zip(DEGREES, times)) for name, times in seconds.items()})
    assert its.job.planning.workload is not None
    return replace(
        its,
        job=replace(
            its.job, planning=replace(its.job.planning, workload=replace(its.job.planning.workload, budget=Budget(nanoseconds=45 * SECOND)))
        ),
    )


def test_what_is_needed_at_least_is_told_with_the_choice_that_needs_it() -> None:
    """What the first needs was said of all: 80 seconds at least, where 60 are enough."""
    (finding,) = Solver(solve, 10.0)(too_slow()).findings
    others, allowed = "with tp 2 of `actor` or tp 4 of `actor`", "an iteration takes at least {} seconds, 45 are allowed"
    assert finding.message == "impossible: no plan with any of 3 choices of degrees and models"
    assert finding.notes[:2] == (f"with tp 1 of `actor`, {allowed.format(80)}", f"{others}, {allowed.format(60)}")
    assert finding.help == f"with tp 1 of `actor`, allow `seconds: 80`; {others}, allow `seconds: 60`"


@pytest.mark.usefixtures("interruptible")
def test_a_ctrl_c_after_a_choice_that_is_impossible_leaves_it_open_whether_all_are() -> None:
    def plan(choice: Problem) -> Answer:
        answer = Solver(solve, 10.0)(choice)
        os.kill(os.getpid(), signal.SIGINT)
        return answer

    with Session() as session:
        answer = plan_leading_choices(too_slow(), plan, 10.0, session)
    assert answer.verdict == UNDECIDED and "2 others were not planned" in answer.findings[0].message
