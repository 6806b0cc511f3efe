"""What a worker reports, beside what the plan says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.placements.placement import Placement, placements
from placewright.models.placements.run import Run
from placewright.runtime.running.audit import AuditRow, compare, findings
from placewright.runtime.workers.member import rank_environment

CLUSTER = Cluster((Node(0, "node-0", accelerators(4, "H100")), Node(1, "node-1")))


def actor() -> Placement:
    return placements(CLUSTER, (Run(range(2), 0, each=2, pitch=2),))[1]


def agent() -> Placement:
    return placements(CLUSTER, (Run(range(1), 1, "node", each=0, node_group="node"),))[0]


def report(placement: Placement, node: str = "ray-0", **changed: str) -> dict[str, Any]:
    """What a worker that is where it belongs reports, with some variables changed; "-" unsets one."""
    environment = rank_environment("actor", placement, 2, "10.0.0.1") | changed
    return {"node": node, "host": "h0", "pid": 17, "environment": {k: v for k, v in environment.items() if v != "-"}}


def row(placement: Placement, said: dict[str, Any]) -> AuditRow:
    return compare("actor", placement, 2, "ray-0", said)


def test_a_worker_that_is_where_it_belongs_differs_in_nothing() -> None:
    found = row(actor(), report(actor()))
    assert found == AuditRow("actor", 1, 2, 0, "node-0", "ray-0", "h0", 17, 1, 2, ("2", "3"))
    assert list(findings([found])) == []


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"CUDA_VISIBLE_DEVICES": "3,2"}, "accelerators is 3,2, the plan says 2,3"),
        ({"CUDA_VISIBLE_DEVICES": "-"}, "accelerators is all, the plan says 2,3"),
        ({"RANK": "0"}, "RANK is 0, the plan says 1"),
        ({"WORLD_SIZE": "-"}, "WORLD_SIZE is unset, the plan says 2"),
        ({"NODE_LOCAL_RANK": "x"}, "NODE_LOCAL_RANK is x, the plan says 1"),
    ],
)
def test_each_difference_is_said_with_both_values(changed: dict[str, str], difference: str) -> None:
    found = row(actor(), report(actor(), **changed))
    assert found.differences == (difference,)
    (finding,) = findings([found])
    assert (finding.code, finding.subject) == ("PW706", "actor")
    assert difference in finding.message


def test_another_node_is_a_difference() -> None:
    assert row(actor(), report(actor(), node="ray-1")).differences == ("Ray node is ray-1, the plan says ray-0",)


def test_a_worker_on_a_node_without_accelerators_must_see_none_of_any_maker() -> None:
    assert compare("agent", agent(), 2, "ray-0", report(agent())).differences == ()
    seeing = compare("agent", agent(), 2, "ray-0", report(agent(), HIP_VISIBLE_DEVICES="0"))
    assert seeing.differences == ("accelerators is 0, the plan says none",)


def test_all_differences_of_all_workers_are_found_at_once() -> None:
    wrong = row(actor(), report(actor(), node="ray-1", RANK="0"))
    assert len(list(findings([wrong, replace(wrong, component="ref")]))) == 4
