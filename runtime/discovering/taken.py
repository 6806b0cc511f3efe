"""Which accelerators of a node other jobs hold in Ray, which tells how many they are but not which."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Mapping, Sequence

from ..failure import LaunchFailed
from ..port.node import RayNode
from ..port.port import Bundle, Port
from ..reserving.parts import accelerators_given
from ..reserving.reservation import Reservation
from ..reserving.wanted import Wanted
from ..world.found import resource_of
from ..world.machine import Machine


def with_taken(port: Port, nodes: Sequence[RayNode], machines: Mapping[str, Machine]) -> tuple[dict[str, Machine], dict[str, str]]:
    """(Ray's node id -> the machine with what other jobs hold counted as taken, Ray's node id -> why that is not known).

    Where they hold a part of a node, what is left is reserved for a moment, and whoever gets it says what it is.
    """
    found, unknown = dict(machines), {}
    for node in nodes:
        free, total = (int(its.get(resource_of(node), 0.0)) for its in (node.free, node.total))
        if free == total:
            continue
        try:
            left = _left(port, node, free) if free else ()
        except LaunchFailed as problem:
            unknown[node.node_id] = problem.findings[0].message
            continue
        machine = machines[node.node_id]
        devices = tuple(device if device.id in left else replace(device, taken=True) for device in machine.devices)
        found[node.node_id] = replace(machine, devices=devices)
    return found, unknown


def _left(port: Port, node: RayNode, free: int) -> tuple[str, ...]:
    """The ids of the accelerators that a job would get which asked for all that are left."""
    resource = resource_of(node)
    wanted = Wanted(Bundle(node.node_id, {resource: float(free)}), node.name, f"node `{node.name}`")
    reservation = Reservation(port, f"placewright-discover-{uuid.uuid4().hex[:8]}", [wanted])
    try:
        reservation.acquire()
        return accelerators_given(port, reservation.hold, [wanted], resource, {node.node_id: node})[0]
    finally:
        reservation.release()
