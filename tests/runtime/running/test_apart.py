"""Workers that the plan keeps apart, on one accelerator all the same."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.port.port import RayNode
from placewright.runtime.progress import silent
from placewright.runtime.running.audit import audit, findings
from placewright.runtime.workers.member import rank_environment
from placewright.runtime.world.matching import Match

from ..conftest import Planner
from ..fake import FakePort

constructed: list[str] = []


class Recorder:
    """Notes that it was constructed, which it must not be where it is not alone."""

    def __init__(self) -> None:
        constructed.append("here")


def slime(plan: Planner) -> Plan:
    """An actor on two accelerators and a rollout on the other six of one node."""
    return plan("1x8", actor=(Run(range(1), 0, each=2, pitch=2),), rollout=(Run(range(1), 0, first=2, each=6, pitch=6),))


def said(plan: Plan, visible: dict[str, str], devices: dict[str, str], nodes: tuple[str, ...] = ("ray-0",)) -> list[str]:
    """What is found where the workers see these, by component, and the driver of every node tells these UUIDs."""
    matches = {
        rank: Match(plan.cluster.nodes[rank], RayNode(node, f"h{rank}", f"10.0.0.{rank}", {}, {}, {})) for rank, node in enumerate(nodes)
    }
    reports: dict[str, list[dict[str, Any]]] = {}
    for component in plan.components:
        its = plan.placements(component)
        reports[component] = [
            {
                "node": nodes[placement.node_rank],
                "host": f"h{placement.node_rank}",
                "pid": 7,
                "environment": rank_environment(component, placement, len(its), "10.0.0.1")
                | ({"CUDA_VISIBLE_DEVICES": visible[component]} if component in visible else {}),
                "devices": devices,
            }
            for placement in its
        ]
    return [f"{finding.code} {finding.message}" for finding in findings(audit(plan, matches, reports))]


def test_g19_a_rollout_that_sees_the_accelerators_of_the_actor_is_told_with_both_facts(plan: Planner) -> None:
    assert said(slime(plan), {"rollout": "0,1,2,3,4,5"}, {}) == [
        "PW706 `rollout` process 7 on `h0`: accelerators is 0,1,2,3,4,5, the plan says 2,3,4,5,6,7",
        "PW712 accelerators 0, 1 of `h0` are seen by `actor` rank 0 and `rollout` rank 0, which the plan keeps apart",
    ]


def test_g19_ends_the_launch_before_anything_of_the_users_is_constructed(plan: Planner) -> None:
    constructed.clear()
    port = FakePort(8)
    port.overrides["rollout/0"] = {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5"}
    with pytest.raises(LaunchFailed) as caught, ExitStack() as stack:
        bring_up(stack, slime(plan), port, Recorder, 60, silent)
    assert [finding.code for finding in caught.value.findings] == ["PW706", "PW712"]
    assert constructed == []
    assert port.left_over() == {}


def test_what_the_plan_shares_is_no_fault(plan: Planner) -> None:
    shared = plan("1x8", actor=(Run(range(2), 0, each=4, pitch=4),), rollout=(Run(range(8), 0),))
    assert said(shared, {}, {}) == []


def test_one_accelerator_that_two_nodes_count_as_theirs_is_known_by_its_uuid(plan: Planner) -> None:
    two = plan("2x2", actor=(Run(range(1), 0, each=2, pitch=2),), rollout=(Run(range(1), 1, each=2, pitch=2),))
    assert said(two, {}, {"0": "GPU-aa", "1": "GPU-bb"}, ("ray-0", "ray-1")) == [
        "PW712 accelerators GPU-aa, GPU-bb of `h0`, `h1` are seen by `actor` rank 0 and `rollout` rank 0, which the plan keeps apart"
    ]
    assert said(two, {}, {}, ("ray-0", "ray-1")) == []


def test_a_worker_from_which_nothing_is_hidden_sees_the_accelerators_of_all_others(plan: Planner) -> None:
    made = slime(plan)
    match = Match(made.cluster.nodes[0], RayNode("ray-0", "h0", "10.0.0.1", {}, {}, {}))
    environment = rank_environment("rollout", made.placements("rollout")[0], 1, "10.0.0.1")
    alone = {"node": "ray-0", "host": "h0", "pid": 7, "environment": environment}
    blind = alone | {"environment": {name: text for name, text in environment.items() if name != "CUDA_VISIBLE_DEVICES"}}
    found = list(findings(audit(made, {0: match}, {"actor": [blind], "rollout": [alone]})))
    assert [finding.witnesses for finding in found if finding.code == "PW712"] == [tuple(f"ray-0/{id}" for id in range(2, 8))]


def test_an_accelerator_that_is_named_by_its_uuid_is_the_one_of_that_number(plan: Planner) -> None:
    found = said(slime(plan), {"rollout": "GPU-bb"}, {"0": "GPU-aa", "1": "GPU-bb"})
    assert found[1:] == ["PW712 accelerator GPU-bb of `h0` is seen by `actor` rank 0 and `rollout` rank 0, which the plan keeps apart"]
