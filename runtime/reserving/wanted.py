"""What a reservation wants of one node, and how that node is called in a message."""

from __future__ import annotations

from dataclasses import dataclass

from ..port.port import Bundle
from ..world.matching import Match, count, has
from ..world.vendors import vendor_of

PRESENCE = 0.001
_HELP = "wait for the other job, end it, or solve around it: `placewright discover` counts what it holds as taken"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A bundle; `subject` is what a finding about it is about, `where` its node in words, `rank` the node's rank.

    `help` is for where others hold what is wanted; `least` is how many accelerators were enough if the node was shared, 0 if it
    cannot be.
    """

    bundle: Bundle
    subject: str
    where: str
    rank: int = 0
    help: str = "wait for the other job, or end it"
    least: int = 0


def wanted_of(match: Match, cpus: float = 0, part: int = 0, share: bool = False) -> Wanted:
    """What is held of a node of a plan: its accelerators, all if the plan counts none as taken; its presence if it holds none.

    A node whose accelerators are all free by the plan is held whole: Ray does not say which accelerators a part of a node
    consists of, so only the whole is sure to contain the right ones. Only `part` of them, where the plan holds no more and any
    others can stand for them, are held with `share`; then it must be asked which they are (see parts.py).
    """
    vendor = vendor_of(match.node.accelerator_type)
    resources = {match.ray.presence: PRESENCE}
    if vendor is not None and match.held:
        taken = match.node.taken.bit_count()
        whole = count(match.node) - taken if taken else has(match.node, match.ray)
        resources = {vendor.resource: float(part if part and share else whole)}
    if cpus:
        resources["CPU"] = cpus
    where = f"node {match.node.rank} (`{match.node.name}`, Ray node `{match.ray.name}`)"
    return Wanted(Bundle(match.ray.node_id, resources), match.node.name, where, match.node.rank, _HELP, 0 if share else part)
