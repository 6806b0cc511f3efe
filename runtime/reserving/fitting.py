"""Deterministic choice of nodes for parts: each whole on a node, few nodes broken."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..port.port import RayNode

Need = Mapping[str, float]
"""Joint demand on a single node, by Ray's resource names."""
NOISE = 1e-6
MAX_STEPS = 20_000
"""Maximal number of placement steps before the search gives up."""


def fit(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str) -> list[int] | None:
    """Return the node position of every need; None if they do not fit.

    Larger parts choose first. A part takes a node that it fills, else a partly taken node, else the
    node with the least left of `lead`, the first among equals; if no node is left for a later part,
    the search backtracks. Equal parts then stand in node order, and so do all parts among
    indistinguishable nodes.
    """
    order = sorted(range(len(needs)), key=lambda part: (-needs[part].get(lead, 0.0), -needs[part].get("CPU", 0.0), part))
    for name in (lead, "CPU"):
        if sum(need.get(name, 0.0) for need in needs) > sum(node.free.get(name, 0.0) for node in nodes) + NOISE:
            return None
    node_of_part = _place(nodes, needs, lead, order)
    if node_of_part is None:
        return None
    node_of_part = _sort_parts(nodes, needs, lead, node_of_part)
    for equal_parts in _group_alike(needs):
        for part, node in zip(equal_parts, sorted(node_of_part[part] for part in equal_parts)):
            node_of_part[part] = node
    return [node_of_part[part] for part in range(len(needs))]


def _place(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str, order: Sequence[int]) -> dict[int, int] | None:
    """Search depth first, without recursion, for any number of parts."""
    remaining = [dict(node.free) for node in nodes]
    node_of_part: dict[int, int] = {}
    tries: list[list[int]] = []
    steps = MAX_STEPS
    while len(node_of_part) < len(order):
        if len(tries) == len(node_of_part):
            tries.append(_candidates(nodes, remaining, needs[order[len(node_of_part)]], lead)[::-1])
        if tries[-1] and steps:
            steps -= 1
            part = order[len(node_of_part)]
            node_of_part[part] = tries[-1].pop()
            _move(remaining[node_of_part[part]], needs[part], -1)
            continue
        tries.pop()
        if not tries:
            return None
        previous = order[len(tries) - 1]
        _move(remaining[node_of_part.pop(previous)], needs[previous], 1)
    return node_of_part


def _candidates(nodes: Sequence[RayNode], remaining_on_nodes: Sequence[Mapping[str, float]], need: Need, lead: str) -> list[int]:
    """Return fitting nodes, best first; the first alone of indistinguishable ones."""
    signatures: set[object] = set()
    ranking = []
    for position, (node, remaining) in enumerate(zip(nodes, remaining_on_nodes)):
        if any(remaining.get(name, 0.0) < amount - NOISE for name, amount in need.items()):
            continue
        total, rest = node.total.get(lead, 0.0), remaining.get(lead, 0.0) - need.get(lead, 0.0)
        breaks = remaining.get(lead, 0.0) >= total - NOISE and rest > NOISE
        signature = total, remaining.get(lead, 0.0), remaining.get("CPU", 0.0), frozenset(need)
        if signature not in signatures:
            signatures.add(signature)
            ranking.append((breaks, rest, position))
    return [position for _, _, position in sorted(ranking)]


def _move(node: dict[str, float], need: Need, sign: int) -> None:
    for name, amount in need.items():
        node[name] = node.get(name, 0.0) + sign * amount


def _sort_parts(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str, node_of_part: Mapping[int, int]) -> dict[int, int]:
    """Give earlier parts earlier nodes among equals, so that ranks follow the nodes."""
    names = sorted({name for need in needs for name in need})
    nodes_by_signature: dict[object, dict[int, None]] = {}
    for part in sorted(node_of_part):
        node = nodes[node_of_part[part]]
        signature = node.total.get(lead, 0.0), tuple(node.free.get(name, 0.0) for name in names)
        nodes_by_signature.setdefault(signature, {})[node_of_part[part]] = None
    replacement = {node: new_node for group in nodes_by_signature.values() for node, new_node in zip(group, sorted(group))}
    return {part: replacement[node] for part, node in node_of_part.items()}


def _group_alike(needs: Sequence[Need]) -> list[list[int]]:
    """Group the positions of equal needs."""
    groups: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for part, need in enumerate(needs):
        groups.setdefault(tuple(sorted(need.items())), []).append(part)
    return list(groups.values())
