"""What is held of each node, and who is short of what."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.machines.cluster import Node
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.inventory import RayNode
from placewright.runtime.matching import Match
from placewright.runtime.reservation import bundle, shortages


def matched(cluster: str, total: int, taken: int = 0, resource: str = "GPU") -> Match:
    node: Node = replace(read_shorthand(cluster).nodes[0], taken=taken)
    return Match(node, RayNode("id-0", "host-0", "10.0.0.1", {}, {resource: total}, {}))


def test_a_node_is_held_whole_because_ray_does_not_say_which_accelerators_a_part_has() -> None:
    assert bundle(matched("1x8", 8)) == {"GPU": 8}
    assert bundle(matched("1x4", 8)) == {"GPU": 8}


def test_of_a_node_that_others_use_the_rest_is_held() -> None:
    assert bundle(matched("1x8", 8, taken=0b11)) == {"GPU": 6}


def test_a_node_without_accelerators_is_held_by_its_presence() -> None:
    assert bundle(matched("1x0", 0)) == {"node:10.0.0.1": 0.001}


def test_a_node_whose_accelerators_nobody_of_the_plan_holds_leaves_them_to_others() -> None:
    assert bundle(replace(matched("1x8", 8), held=False)) == {"node:10.0.0.1": 0.001}


def test_other_kinds_are_held_under_the_name_that_ray_has_for_them() -> None:
    assert bundle(matched("1x8xNPU:910B", 8, resource="NPU")) == {"NPU": 8}


def test_a_busy_node_is_named_with_what_it_needs_and_has() -> None:
    (finding,) = shortages([matched("1x8", 8)], {"id-0": {"GPU": 5}}, 10)
    assert finding.message == "node 0 (`node-0`, Ray node `host-0`) needs 8 accelerators free, 5 are, after waiting 10 s"
    assert (finding.code, finding.amount) == ("PW702", 3)


def test_a_node_that_has_gone_is_said_to_be_gone() -> None:
    (finding,) = shortages([matched("1x8", 8)], {}, 10)
    assert finding.message.endswith("is gone")


def test_a_free_node_is_no_shortage() -> None:
    assert list(shortages([matched("1x8", 8)], {"id-0": {"GPU": 8}}, 10)) == []
