"""Reasons why a reservation cannot be had, node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ..port.port import Holding, Port, RayBundle, RayNode
from ..world.matching import Match, plan_accelerators, ray_accelerators
from ..world.vendors import RESOURCES, vendor_of
from .fitting import NOISE

PRESENCE = 0.001
_HELP = "wait for the other job, end it, or solve around it: `placewright discover` counts what it holds as taken"


@dataclass(frozen=True, slots=True)
class NodeDemand:
    """Demand: bundle, `subject` of findings, `where` (the node in words), and `rank` of the node.

    `help`: advice if others hold the resources; `least`: number of accelerators sufficient with
    node sharing, 0 if sharing is impossible.
    """

    bundle: RayBundle
    subject: str
    where: str
    rank: int = 0
    help: str = "wait for the other job, or end it"
    least: int = 0


def node_demand(match: Match, cpus: float = 0, part: int = 0, share: bool = False) -> NodeDemand:
    """Return the demand on a plan's node: accelerators, or the node's presence without any.

    All accelerators if the plan counts none as taken: Ray does not report which accelerators form a
    part, so only the whole node surely contains the right ones. With `share`, only `part` of them,
    if the plan uses no more and any can replace them; then they must be queried (see parts.py).
    """
    vendor = vendor_of(match.node.accelerator_type)
    resources = {match.ray.presence: PRESENCE}
    if vendor is not None and match.held:
        taken = match.node.taken.bit_count()
        whole = plan_accelerators(match.node) - taken if taken else ray_accelerators(match.node, match.ray)
        resources = {vendor.resource: float(part if part and share else whole)}
    if cpus:
        resources["CPU"] = cpus
    location = f"node {match.node.rank} (`{match.node.name}`, Ray node `{match.ray.name}`)"
    return NodeDemand(RayBundle(match.ray.node_id, resources), match.node.name, location, match.node.rank, _HELP, 0 if share else part)


def amount_of(resource: str, amount: float) -> str:
    """Format an amount: ``1 accelerator``, ``8 CPUs`` or ``2 `license```; all makers' are
    accelerators.
    """
    kind = "accelerator" if resource in RESOURCES else resource
    return f"{amount:g} {kind}{'' if amount == 1 else 's'}" if kind in ("accelerator", "CPU") else f"{amount:g} `{resource}`"


def held_on(holdings: Iterable[Holding], resource: str) -> dict[str, dict[str, float]]:
    """Return Ray node id -> reservation name -> its amount of a resource there."""
    amounts: dict[str, dict[str, float]] = {}
    for holding in holdings:
        for bundle in holding.bundles:
            if amount := bundle.resources.get(resource, 0.0):
                by_name = amounts.setdefault(bundle.node_id, {})
                by_name[holding.name] = by_name.get(holding.name, 0.0) + amount
    return amounts


def by_holders(amounts: Mapping[str, float]) -> str:
    """Format holders, like ``3 by `other`, 1 by `mine```."""
    return ", ".join(f"{amount:g} by `{name}`" for name, amount in amounts.items())


def shortages(port: Port, wanted: Sequence[NodeDemand], limit: float) -> Iterator[Finding]:
    """Yield a PW702 per node and resource with less free than jointly needed.

    Ray judges every bundle alone, and would wait forever for two that fit only one by one.
    """
    alive = {node.node_id: node for node in port.nodes()}
    holdings: Sequence[Holding] | None = None
    for node_id, node_wanted in _by_node(wanted).items():
        first, node = node_wanted[0], alive.get(node_id)
        if node is None:
            yield _finding(first, f"{first.where} is gone", "start the node again, or solve for the cluster that is there", 1)
            continue
        for resource, need in _needs(node_wanted).items():
            have = node.free.get(resource, 0.0)
            if have < need - NOISE:
                if holdings is None:
                    holdings = port.holdings()
                yield _finding(first, *_words(first, node, resource, need, limit, holdings), need - have)


def is_hopeless(port: Port, wanted: Sequence[NodeDemand]) -> bool:
    """Return True if waiting is pointless: a node is gone or too small even when empty."""
    alive = {node.node_id: node for node in port.nodes()}
    return any(
        node_id not in alive
        or any(alive[node_id].total.get(resource, 0.0) < need - NOISE for resource, need in _needs(node_wanted).items())
        for node_id, node_wanted in _by_node(wanted).items()
    )


def _words(first: NodeDemand, node: RayNode, resource: str, need: float, limit: float, holdings: Sequence[Holding]) -> tuple[str, str]:
    have, total = node.free.get(resource, 0.0), node.total.get(resource, 0.0)
    if total < need - NOISE:
        return f"{first.where} needs {amount_of(resource, need)}, it has {total:g}", "ask for less of this node, or start it with more"
    holders = held_on(holdings, resource).get(node.node_id)
    holders_text = f" ({by_holders(holders)} held)" if holders else ""
    shared = resource in RESOURCES and 0 < first.least <= have + NOISE
    help = f"{first.help}; or hold only the {first.least} that the plan uses there: `--share-nodes`" if shared else first.help
    return f"{first.where} needs {amount_of(resource, need)} free, {have:g} are, after waiting {limit:g} s{holders_text}", help


def _by_node(wanted: Sequence[NodeDemand]) -> dict[str, list[NodeDemand]]:
    by_node: dict[str, list[NodeDemand]] = {}
    for want in wanted:
        by_node.setdefault(want.bundle.node_id, []).append(want)
    return by_node


def _needs(wanted: Sequence[NodeDemand]) -> dict[str, float]:
    needs: dict[str, float] = {}
    for want in wanted:
        for resource, amount in want.bundle.resources.items():
            needs[resource] = needs.get(resource, 0.0) + amount
    return needs


def _finding(first: NodeDemand, message: str, help: str, amount: float) -> Finding:
    return error("PW702", first.subject, message, help=help, witnesses=(first.rank,), amount=max(1, round(amount)))
