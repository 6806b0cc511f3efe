"""What a launch cannot see is said."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.running.start import list_unchecked
from placewright.runtime.world.matching import NO_SURVEY, Survey, match_machines

from ..conftest import Planner
from ..world.machines import ray_node, report


def rules(plan: Plan, seen: Survey = NO_SURVEY, **resources: float) -> list[tuple[str, str]]:
    """(rule, subject) of what is said of the plan on nodes of Ray with enough accelerators and these resources."""
    nodes = [ray_node(f"n{node.rank}", 8, address=f"10.0.0.{node.rank + 1}", resources=resources) for node in plan.cluster.nodes]
    return [(item.rule, item.subject) for item in list_unchecked(plan, match_machines(plan, nodes), nodes, seen)]


def test_of_a_plain_plan_all_is_seen(plan: Planner) -> None:
    assert rules(plan("2x8", actor=(Run(range(8), 0),))) == []


def test_robots_are_unknown_to_ray(plan: Planner) -> None:
    assert rules(plan("1x0", env=(Run(range(1), 0, "Franka"),))) == [("Franka", "env")]


def test_robots_that_ray_names_are_compared(plan: Planner) -> None:
    assert rules(plan("1x0", env=(Run(range(1), 0, "Franka"),)), franka=1.0) == []


def test_accelerators_that_others_hold_are_known_by_number_alone(plan: Planner) -> None:
    made = plan("2x8", actor=(Run(range(4), 1, first=4),))
    nodes = tuple(replace(node, taken=0b1111) for node in made.cluster.nodes)
    taken = replace(made, cluster=replace(made.cluster, nodes=nodes))
    assert rules(taken) == [("taken", "node-1")]
    assert rules(taken, Survey({"id-n1": report(8)})) == []  # what is in use there was compared


def test_a_node_that_nobody_could_look_at_is_named(plan: Planner) -> None:
    made = plan("2x8", actor=(Run(range(8), 0),))
    assert rules(made, Survey({}, {"id-n0": "no answer in time", "id-n1": "no answer in time"})) == [("devices", "node-0")]
