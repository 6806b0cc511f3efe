"""Dry run of a launch on a live cluster: what it would reserve where, and what is short."""

from __future__ import annotations

from typing import Collection, Sequence

from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.connection import Connection
from ..port.on_ray import RayPort
from ..progress import silent
from ..reserving.reservation import WAIT_LIMIT, NodeDemand, unmet
from ..workers.worker_class import check_trusted, check_worker
from ..world.inventory import inventory
from ..world.matching import survey_real_nodes
from .start import StartOptions, demands

WouldReserve = tuple[NodeDemand, Sequence[float]]
"""Demand on a node, and what is free there of each of its resources."""


def dry_run(
    plan: Plan, address: str, worker: str | None = None, methods: Collection[str] = (), trusted_env: Collection[str] = (),
    wait: float = WAIT_LIMIT, share_nodes: bool = False,
) -> list[WouldReserve]:  # fmt: skip
    """Do what `launch` does before it reserves. Raises LaunchFailed as `launch` would."""
    check_trusted(plan, trusted_env)
    cls = check_worker(worker, methods)
    connection = Connection(address)
    try:
        connection.open()
        port = RayPort()
        survey = survey_real_nodes(port)
        return would_reserve(plan, StartOptions(port, cls, 0.0, wait, silent, survey, share_nodes))
    finally:
        connection.close()


def would_reserve(plan: Plan, options: StartOptions) -> list[WouldReserve]:
    """Return what a start would reserve, by node rank. Raises LaunchFailed: PW702 if it is short."""
    _, _, node_demands = demands(plan, inventory(options.port, options.seen.reports), options)
    if short := unmet(options.port, node_demands, options.wait):
        raise LaunchFailed(*short)
    free = {node.node_id: node.free for node in options.port.nodes()}
    return [(want, [free.get(want.bundle.node_id, {}).get(name, 0.0) for name in want.bundle.resources]) for want in node_demands]
