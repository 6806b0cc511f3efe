"""Which accelerators a part of a node consists of: what Ray gave, asked once for each part, all at once, within a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import Died, RayBundle
from placewright.runtime.reserving.reservation import PROBE_LIMIT, NodeDemand, Reservation, accelerators_given
from placewright.runtime.world.ray_machine import SIMULATED_LABEL

from ..fake import FakePort


def held(port: FakePort, *parts: tuple[int, int]) -> Reservation:
    """A reservation of (node rank, accelerators)."""
    wanted = [
        NodeDemand(RayBundle(f"ray-{rank}", {"GPU": float(count)} if count else {"CPU": 1.0}), "pool", f"node {rank}", rank)
        for rank, count in parts
    ]
    reservation = Reservation(port, f"job-{len(port.holds)}", wanted)
    reservation.acquire()
    return reservation


def ids(port: FakePort, reservation: Reservation) -> list[str]:
    found = accelerators_given(port, reservation.hold, reservation.wanted, "GPU", port.alive)
    return [",".join(its) for its in found]


def simulate(port: FakePort) -> None:
    port.alive = {name: replace(node, labels={**node.labels, SIMULATED_LABEL: "1"}) for name, node in port.alive.items()}


def test_a_part_is_what_is_free_when_it_is_held() -> None:
    port = FakePort(8, 4)
    first = held(port, (0, 3))
    assert ids(port, first) == ["0,1,2"]
    assert ids(port, held(port, (0, 2), (1, 4))) == ["3,4", "0,1,2,3"]
    first.release()
    assert ids(port, held(port, (0, 1), (0, 2))) == ["0", "1,2"]


def test_two_parts_of_a_node_are_in_ascending_order_whichever_ray_put_where() -> None:
    port = FakePort(8)
    reservation = held(port, (0, 2), (0, 2))
    port.holds[0].ids = {0: ["10", "2"], 1: ["9", "3"]}
    assert ids(port, reservation) == ["2,3", "9,10"]


def test_of_a_simulated_node_that_is_held_whole_nobody_asks() -> None:
    port = FakePort(8, 4)
    simulate(port)
    reservation = held(port, (0, 5), (0, 3), (1, 3))
    before = len(port.calls)
    assert ids(port, reservation) == ["0,1,2,3,4", "5,6,7", "0,1,2"]
    assert port.calls[before:].count("run") == 1


def test_a_bundle_without_accelerators_has_none() -> None:
    port = FakePort(8)
    assert ids(port, held(port, (0, 0), (0, 8))) == ["", "0,1,2,3,4,5,6,7"]


def test_a_part_that_does_not_tell_is_named_after_a_while() -> None:
    port = FakePort(8)
    reservation = held(port, (0, 2))
    run = port.run

    def never(*arguments: Any) -> Any:
        ticket = run(*arguments)
        ticket.at = port.time + 3600
        return ticket

    port.run = never  # type: ignore[method-assign]
    with pytest.raises(LaunchFailed, match="node 0 did not report within 60 s which accelerators were given"):
        ids(port, reservation)
    assert port.time < PROBE_LIMIT + 1


def test_a_part_whose_process_dies_says_why() -> None:
    port = FakePort(8)
    reservation = held(port, (0, 2))

    def answer(ticket: object) -> object:
        raise Died("the node has no memory left")

    port.answer = answer  # type: ignore[method-assign, assignment]
    with pytest.raises(LaunchFailed, match="node 0 could not report which of its accelerators it gave: the node has no memory left"):
        ids(port, reservation)
