"""Explanation of an impossible reservation per node: need, capacity, and holders of the rest."""

from __future__ import annotations

from typing import Iterator, Sequence

from ...models.findings.finding import Finding, error
from ..port.node import RayNode
from ..port.port import Holding, Port
from ..world.vendors import RESOURCES
from .fitting import NOISE
from .wanted import Wanted
from .words import amount_of, by_holders, held_on


def shortages(port: Port, wanted: Sequence[Wanted], limit: float) -> Iterator[Finding]:
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


def is_hopeless(port: Port, wanted: Sequence[Wanted]) -> bool:
    """Return True if waiting is pointless: a node is gone or too small even when empty."""
    alive = {node.node_id: node for node in port.nodes()}
    return any(
        node_id not in alive
        or any(alive[node_id].total.get(resource, 0.0) < need - NOISE for resource, need in _needs(node_wanted).items())
        for node_id, node_wanted in _by_node(wanted).items()
    )


def _words(first: Wanted, node: RayNode, resource: str, need: float, limit: float, holdings: Sequence[Holding]) -> tuple[str, str]:
    have, total = node.free.get(resource, 0.0), node.total.get(resource, 0.0)
    if total < need - NOISE:
        return f"{first.where} needs {amount_of(resource, need)}, it has {total:g}", "ask for less of this node, or start it with more"
    holders = held_on(holdings, resource).get(node.node_id)
    holders_text = f" ({by_holders(holders)} held)" if holders else ""
    shared = resource in RESOURCES and 0 < first.least <= have + NOISE
    help = f"{first.help}; or hold only the {first.least} that the plan uses there: `--share-nodes`" if shared else first.help
    return f"{first.where} needs {amount_of(resource, need)} free, {have:g} are, after waiting {limit:g} s{holders_text}", help


def _by_node(wanted: Sequence[Wanted]) -> dict[str, list[Wanted]]:
    by_node: dict[str, list[Wanted]] = {}
    for want in wanted:
        by_node.setdefault(want.bundle.node_id, []).append(want)
    return by_node


def _needs(wanted: Sequence[Wanted]) -> dict[str, float]:
    needs: dict[str, float] = {}
    for want in wanted:
        for resource, amount in want.bundle.resources.items():
            needs[resource] = needs.get(resource, 0.0) + amount
    return needs


def _finding(first: Wanted, message: str, help: str, amount: float) -> Finding:
    return error("PW702", first.subject, message, help=help, witnesses=(first.rank,), amount=max(1, round(amount)))
