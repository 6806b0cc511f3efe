"""Demand of a reservation on a node, and the node's name in messages."""

from __future__ import annotations

from dataclasses import dataclass

from ..port.port import Bundle
from ..world.matching import Match, count, has
from ..world.vendors import vendor_of

PRESENCE = 0.001
_HELP = "wait for the other job, end it, or solve around it: `placewright discover` counts what it holds as taken"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Demand: bundle, `subject` of findings, `where` (the node in words), and `rank` of the node.

    `help`: advice if others hold the resources; `least`: number of accelerators sufficient with
    node sharing, 0 if sharing is impossible.
    """

    bundle: Bundle
    subject: str
    where: str
    rank: int = 0
    help: str = "wait for the other job, or end it"
    least: int = 0


def wanted_of(match: Match, cpus: float = 0, part: int = 0, share: bool = False) -> Wanted:
    """Return the demand on a plan's node: accelerators, or the node's presence without any.

    All accelerators if the plan counts none as taken: Ray does not report which accelerators form a
    part, so only the whole node surely contains the right ones. With `share`, only `part` of them,
    if the plan uses no more and any can replace them; then they must be queried (see parts.py).
    """
    vendor = vendor_of(match.node.accelerator_type)
    resources = {match.ray.presence: PRESENCE}
    if vendor is not None and match.held:
        taken = match.node.taken.bit_count()
        whole = count(match.node) - taken if taken else has(match.node, match.ray)
        resources = {vendor.resource: float(part if part and share else whole)}
    if cpus:
        resources["CPU"] = cpus
    location = f"node {match.node.rank} (`{match.node.name}`, Ray node `{match.ray.name}`)"
    return Wanted(Bundle(match.ray.node_id, resources), match.node.name, location, match.node.rank, _HELP, 0 if share else part)
