"""What a launch cannot see is said."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.placements.assignment import Run
from placewright.models.placements.plan import Plan
from placewright.runtime.unchecked import unchecked

from .conftest import Planner


def rules(plan: Plan) -> list[tuple[str, str]]:
    return [(item.rule, item.subject) for item in unchecked(plan)]


def test_of_a_plain_plan_all_is_seen(plan: Planner) -> None:
    assert rules(plan("2x8", actor=(Run(range(8), 0),))) == []


def test_robots_are_unknown_to_ray(plan: Planner) -> None:
    assert rules(plan("1x0", env=(Run(range(1), 0, "Franka"),))) == [("Franka", "env")]


def test_accelerators_that_others_hold_are_known_by_number_alone(plan: Planner) -> None:
    made = plan("2x8", actor=(Run(range(4), 1, first=4),))
    nodes = tuple(replace(node, taken=0b1111) for node in made.cluster.nodes)
    assert rules(replace(made, cluster=replace(made.cluster, nodes=nodes))) == [("taken", "node-1")]
