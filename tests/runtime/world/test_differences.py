"""The plan's machines beside those that are there: every difference at once, and nothing that is only unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from placewright.models.machines.node import accelerators
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import RayNode
from placewright.runtime.world.matching import NO_SURVEY, Survey, match_machines

from ..conftest import Planner
from .machines import ray_node, report


def messages(plan: Plan, *nodes: RayNode, **reports: dict[str, Any]) -> list[str]:
    seen = Survey({f"id-{name}": its for name, its in reports.items()})
    try:
        match_machines(plan, nodes, seen)
    except LaunchFailed as problem:
        assert {finding.code for finding in problem.findings} == {"PW702"}
        assert problem.exit_code == 4
        return [finding.message for finding in problem.findings]
    return []


def with_ids(plan: Plan, *ids: str) -> Plan:
    """The plan on nodes whose H100 have these physical ids."""
    nodes = tuple(replace(node, accelerators=accelerators(len(ids), "H100", None, ids)) for node in plan.cluster.nodes)
    return replace(plan, cluster=replace(plan.cluster, nodes=nodes))


@pytest.fixture
def one_node(plan: Planner) -> Plan:
    """A process on each of the first two of the four accelerators of a node."""
    return plan("1x4xH100", actor=(Run(range(2), 0),))


def test_what_is_as_the_plan_says_or_not_known_is_no_difference(one_node: Plan) -> None:
    assert messages(one_node, ray_node("a", 4)) == []
    assert messages(one_node, ray_node("a", 4, resources={"accelerator_type:H100": 1.0})) == []
    assert messages(one_node, ray_node("a", 4), a=report(4)) == []  # a driver keeps a little of the 80 GiB for itself
    assert messages(one_node, ray_node("a", 8), a=report(8)) == []


def test_another_model_is_told(one_node: Plan) -> None:
    said = "node 0 (`node-0`, Ray node `a`) has A100 accelerators, the plan says H100"
    assert messages(one_node, ray_node("a", 4, resources={"accelerator_type:A100": 1.0})) == [said]
    assert messages(one_node, ray_node("a", 4), a=report(4, "NVIDIA A100-SXM4-80GB", 81_920)) == [said]


def test_less_memory_is_told_and_what_a_driver_keeps_is_not(plan: Planner) -> None:
    made = plan("1x4xA100", actor=(Run(range(2), 0),))
    small = report(4, "NVIDIA A100-SXM4-40GB", 40_536)
    (said,) = messages(made, ray_node("a", 4), a=small)
    assert said == "node 0 (`node-0`, Ray node `a`) has accelerators with 40536 MiB of memory, the plan says 81920 MiB"
    assert messages(plan("1x4xT4", actor=(Run(range(2), 0),)), ray_node("a", 4), a=report(4, "Tesla T4", 15_360)) == []


def test_ids_that_do_not_exist_are_told_if_a_process_holds_them(one_node: Plan) -> None:
    part = report(8, CUDA_VISIBLE_DEVICES="4,5,6,7")
    (said,) = messages(one_node, ray_node("a", 4), a=part)
    assert said == "node 0 (`node-0`, Ray node `a`) has the accelerators 4, 5, 6, 7, the plan names 0, 1"
    assert messages(with_ids(one_node, "4", "5", "8", "9"), ray_node("a", 4), a=part) == []  # nobody holds the last two


def test_a_number_and_a_uuid_may_name_the_same_accelerator(one_node: Plan) -> None:
    named = report(8, CUDA_VISIBLE_DEVICES="GPU-0abc,GPU-1abc,GPU-2abc,GPU-3abc")
    assert messages(one_node, ray_node("a", 4), a=named) == []
    assert messages(with_ids(one_node, "GPU-1abc", "GPU-0", "2", "3"), ray_node("a", 4), a=report(8)) == []


def test_accelerators_in_use_that_the_plan_counts_as_free_are_told(one_node: Plan) -> None:
    seen = report(4)
    seen["devices"][1]["used"] = seen["devices"][3]["used"] = 60_000
    assert messages(one_node, ray_node("a", 4), a=seen) == [
        "node 0 (`node-0`, Ray node `a`) has the accelerators 1 in use, the plan counts them as free"
    ]


def test_other_hardware_is_compared_where_any_node_of_ray_names_it(plan: Planner) -> None:
    made = plan("2x0", env=(Run(range(1), 0, "Franka"), Run(range(1, 2), 1, "Franka")))
    robots = tuple(replace(node, hardware=(plan_hardware("Franka"),)) for node in made.cluster.nodes)
    made = replace(made, cluster=replace(made.cluster, nodes=robots))
    with_robot, without = ray_node("a", 0, resources={"franka": 1.0}), ray_node("b", 0, address="10.0.0.2")
    assert messages(made, with_robot, without) == ["node 1 (`node-1`, Ray node `b`) needs 1 `Franka`, it has 0"]
    assert messages(made, without, replace(with_robot, total=without.total)) == []


def plan_hardware(kind: str) -> Any:
    from placewright.models.machines.node import Hardware

    return Hardware(kind)


def test_everything_is_told_at_once_in_the_order_of_the_nodes(plan: Planner) -> None:
    made = plan("3x4xH100", actor=tuple(Run(range(4 * n, 4 * n + 4), n) for n in range(3)))
    nodes = [
        ray_node(name, count, labels={"placewright.node-rank": rank}, resources={f"accelerator_type:{model}": 1.0})
        for name, count, rank, model in (("a", 4, "0", "H200"), ("b", 2, "1", "H100"))
    ]
    assert messages(made, *nodes) == [
        "node 0 (`node-0`, Ray node `a`) has H200 accelerators, the plan says H100",
        "node 1 (`node-1`) needs 4 accelerators, its Ray node `b` has 2",
        "node 2 (`node-2`) is missing: no Ray node has the label placewright.node-rank=2",
    ]


def test_a_look_at_the_machine_of_a_simulated_node_tells_nothing_of_the_node(one_node: Plan) -> None:
    simulated = ray_node("a", 4, labels={"placewright.simulated": "true", "placewright.accelerator": "NV_GPU.H100"})
    assert messages(one_node, simulated, a=report(1, "Tesla T4", 15_360, used=15_000)) == []
    other = ray_node("a", 4, labels={"placewright.simulated": "true", "placewright.accelerator": "NV_GPU.H200"})
    assert messages(one_node, other) == ["node 0 (`node-0`, Ray node `a`) has H200 accelerators, the plan says H100"]


def test_without_a_look_the_nodes_are_matched_all_the_same(one_node: Plan) -> None:
    assert [match.ray.name for match in match_machines(one_node, [ray_node("a", 4)], NO_SURVEY).values()] == ["a"]
