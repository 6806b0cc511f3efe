"""What is held of each node, and who is short of what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.node import Node
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import PENDING, RayBundle, RayNode
from placewright.runtime.reserving.reservation import NodeDemand, Reservation, node_demand
from placewright.runtime.world.matching import Match

from ..fake import FakePort
from ..fake_cluster import FakeHold


def matched(cluster: str, total: int, taken: int = 0, resource: str = "GPU") -> Match:
    node: Node = replace(read_shorthand(cluster).nodes[0], taken=taken)
    return Match(node, RayNode("id-0", "host-0", "10.0.0.1", {}, {resource: total}, {}))


def resources(match: Match) -> dict[str, float]:
    return dict(node_demand(match).bundle.resources)


def test_a_node_is_held_whole_because_ray_does_not_say_which_accelerators_a_part_has() -> None:
    assert resources(matched("1x8", 8)) == {"GPU": 8}
    assert resources(matched("1x4", 8)) == {"GPU": 8}


def test_of_a_node_that_others_use_the_rest_is_held() -> None:
    assert resources(matched("1x8", 8, taken=0b11)) == {"GPU": 6}


def test_a_node_without_accelerators_is_held_by_its_presence() -> None:
    assert resources(matched("1x0", 0)) == {"node:10.0.0.1": 0.001}


def test_a_node_whose_accelerators_nobody_of_the_plan_holds_leaves_them_to_others() -> None:
    assert resources(replace(matched("1x8", 8), held=False)) == {"node:10.0.0.1": 0.001}


def test_other_kinds_are_held_under_the_name_that_ray_has_for_them() -> None:
    assert resources(matched("1x8xNPU:910B", 8, resource="NPU")) == {"NPU": 8}


def wanted(rank: int, **resources: float) -> NodeDemand:
    return NodeDemand(RayBundle(f"ray-{rank}", resources), f"node-{rank}", f"node {rank}", rank)


def refused(port: FakePort, *its: NodeDemand, limit: float = 10) -> list[tuple[str, str, int | None]]:
    with pytest.raises(LaunchFailed) as caught:
        Reservation(port, "mine", its).acquire(limit)
    assert port.left_over().get("holds", []) in ([], ["other"])
    return [(finding.code, finding.message, finding.amount) for finding in caught.value.findings]


def test_a_busy_node_is_named_with_what_it_needs_and_has_and_who_holds_it() -> None:
    port = FakePort(8, 8)
    Reservation(port, "other", [wanted(1, GPU=3)]).acquire()
    message = "node 1 needs 8 accelerators free, 5 are, after waiting 10 s (3 by `other` held)"
    assert refused(port, wanted(0, GPU=8), wanted(1, GPU=8)) == [("PW702", message, 3)]


def test_two_parts_of_a_node_that_fit_one_by_one_must_fit_together() -> None:
    assert refused(FakePort(8), wanted(0, GPU=5), wanted(0, GPU=5)) == [("PW702", "node 0 needs 10 accelerators, it has 8", 2)]


def test_a_node_that_is_lost_is_not_waited_for() -> None:
    port = FakePort(8, 8, 8)
    Reservation(port, "other", [wanted(1, GPU=3), wanted(2, GPU=3)]).acquire()
    port.later(3, lambda: port.lose_node(1))
    busy = "node 2 needs 8 accelerators free, 5 are (3 by `other` held)"
    assert refused(port, wanted(1, GPU=8), wanted(2, GPU=8), limit=60) == [("PW702", "node 1 is gone", 1), ("PW702", busy, 3)]
    assert port.time < 5


def test_what_a_node_never_has_is_not_waited_for() -> None:
    port = FakePort(8, cpus=16)
    assert refused(port, wanted(0, GPU=8, CPU=24), limit=60) == [("PW702", "node 0 needs 24 CPUs, it has 16", 8)]
    assert port.time == 0


def test_processors_can_be_short_too() -> None:
    assert refused(FakePort(8, cpus=16), wanted(0, GPU=8, CPU=24)) == [("PW702", "node 0 needs 24 CPUs, it has 16", 8)]


def test_a_node_that_has_gone_without_the_clusters_knowledge_is_said_to_be_gone() -> None:
    port = FakePort(8, 8)
    Reservation(port, "other", [wanted(1, GPU=8)]).acquire()
    port.cut_off.add("ray-1")
    assert refused(port, wanted(1, GPU=8)) == [("PW702", "node 1 is gone", 1)]


def test_a_node_that_has_gone_is_said_to_be_gone() -> None:
    port = FakePort(8, 8)
    port.lose_node(1)
    assert refused(port, wanted(1, GPU=8)) == [("PW702", "node 1 is gone", 1)]


class Busy(FakePort):
    """Ray has not yet looked at what is asked of it, for so many seconds."""

    seconds = 5.0

    def state(self, hold: FakeHold) -> str:
        return PENDING if self.time < self.seconds else super().state(hold)


def test_what_ray_has_not_decided_yet_is_waited_for_and_not_called_short() -> None:
    port = Busy(8)
    mine = Reservation(port, "mine", [wanted(0, GPU=8)])
    mine.acquire()
    assert 5 <= port.time < 6
    mine.release()
    assert port.left_over() == {}


def test_what_ray_never_decides_ends_with_an_error() -> None:
    port = Busy(8)
    port.seconds = 1000.0
    with pytest.raises(LaunchFailed, match=r"Ray calls the reservation pending after 30\.6 s, though every node has enough"):
        Reservation(port, "mine", [wanted(0, GPU=8)]).acquire()
    assert 30 < port.time < 31


def test_what_becomes_free_in_time_is_taken() -> None:
    port = FakePort(8)
    other = Reservation(port, "other", [wanted(0, GPU=8)])
    other.acquire()
    pause = port.pause

    def pausing(seconds: float) -> None:
        pause(seconds)
        if port.time > 3:
            other.release()

    port.pause = pausing  # type: ignore[method-assign]
    mine = Reservation(port, "mine", [wanted(0, GPU=8)])
    mine.acquire(10)
    assert 3 < port.time < 4
    mine.release()
    mine.release()
    assert port.left_over() == {}
