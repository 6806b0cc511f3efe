"""Accelerators of a node that other jobs hold: Ray reports their number only."""

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
    """Return (Ray node id -> updated machine, Ray node id -> reason if unknown).

    On a partly used node, the rest is reserved for a moment, and queried by its holder.
    """
    updated, unknown = dict(machines), {}
    for node in nodes:
        free, total = (int(amounts.get(resource_of(node), 0.0)) for amounts in (node.free, node.total))
        if free == total:
            continue
        try:
            free_ids = _left(port, node, free) if free else ()
        except LaunchFailed as problem:
            unknown[node.node_id] = problem.findings[0].message
            continue
        machine = machines[node.node_id]
        devices = tuple(device if device.id in free_ids else replace(device, taken=True) for device in machine.devices)
        updated[node.node_id] = replace(machine, devices=devices)
    return updated, unknown


def _left(port: Port, node: RayNode, free: int) -> tuple[str, ...]:
    """Return the ids that a job would get which requests all remaining accelerators."""
    resource = resource_of(node)
    wanted = Wanted(Bundle(node.node_id, {resource: float(free)}), node.name, f"node `{node.name}`")
    reservation = Reservation(port, f"placewright-discover-{uuid.uuid4().hex[:8]}", [wanted])
    try:
        reservation.acquire()
        return accelerators_given(port, reservation.hold, [wanted], resource, {node.node_id: node})[0]
    finally:
        reservation.release()
