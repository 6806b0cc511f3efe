"""What a keeper is asked."""

from __future__ import annotations

from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.runtime.detached.messages import LaunchRequest
from placewright.runtime.detached.record import from_line, to_line


def test_a_request_goes_through_its_line_with_its_plan_and_its_problem() -> None:
    cluster = read_shorthand("2x8xH100")
    plan = Plan(cluster, Assignment({"actor": (Run(range(8), 0),)}), VERIFIED)
    problem = Problem(cluster, Job((Component("actor", least=8, most=16, parallel=Parallel(tp=4)),)))
    asked = LaunchRequest("one", "job.yaml", plan, None, "train:Actor", None, 60, 0.5, 1, ("HOME",), problem, heartbeat=5)
    assert from_line(to_line(asked, LaunchRequest), LaunchRequest) == asked
    assert from_line(to_line(asked, LaunchRequest), LaunchRequest).plan.digest == plan.digest
