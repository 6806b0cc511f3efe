"""On which nodes parts of the cluster go: each whole on one, as few nodes broken as can be, always the same."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..port.node import RayNode

Need = Mapping[str, float]
"""Resources by Ray's names that one node must give together."""
NOISE = 1e-6
MAX_STEPS = 20_000
"""How many parts are put somewhere before it counts as not possible."""


def fit(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str) -> list[int] | None:
    """For each need the position of its node; None if they do not fit.

    Larger parts choose first. A part takes a node that it fills, else one of which something is taken already, else the one with
    least left of `lead`, the first of equal ones; where that leaves none for a later part, another is tried. Equal parts then
    stand in the order of their nodes, and so do all parts among nodes that nothing tells apart.
    """
    order = sorted(range(len(needs)), key=lambda which: (-needs[which].get(lead, 0.0), -needs[which].get("CPU", 0.0), which))
    for name in (lead, "CPU"):
        if sum(need.get(name, 0.0) for need in needs) > sum(node.free.get(name, 0.0) for node in nodes) + NOISE:
            return None
    chosen = _place(nodes, needs, lead, order)
    if chosen is None:
        return None
    chosen = _in_order(nodes, needs, lead, chosen)
    for alike in _alike(needs):
        for which, node in zip(alike, sorted(chosen[which] for which in alike)):
            chosen[which] = node
    return [chosen[which] for which in range(len(needs))]


def _place(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str, order: Sequence[int]) -> dict[int, int] | None:
    """Depth first, without recursion, so that any number of parts may be asked for."""
    left = [dict(node.free) for node in nodes]
    chosen: dict[int, int] = {}
    tries: list[list[int]] = []
    steps = MAX_STEPS
    while len(chosen) < len(order):
        if len(tries) == len(chosen):
            tries.append(_candidates(nodes, left, needs[order[len(chosen)]], lead)[::-1])
        if tries[-1] and steps:
            steps -= 1
            which = order[len(chosen)]
            chosen[which] = tries[-1].pop()
            _move(left[chosen[which]], needs[which], -1)
            continue
        tries.pop()
        if not tries:
            return None
        before = order[len(tries) - 1]
        _move(left[chosen.pop(before)], needs[before], 1)
    return chosen


def _candidates(nodes: Sequence[RayNode], left: Sequence[Mapping[str, float]], need: Need, lead: str) -> list[int]:
    """The nodes that have room, best first; of nodes that nothing tells apart only the first."""
    seen: set[object] = set()
    found = []
    for position, (node, its) in enumerate(zip(nodes, left)):
        if any(its.get(name, 0.0) < amount - NOISE for name, amount in need.items()):
            continue
        has, rest = node.total.get(lead, 0.0), its.get(lead, 0.0) - need.get(lead, 0.0)
        breaks = its.get(lead, 0.0) >= has - NOISE and rest > NOISE
        alike = has, its.get(lead, 0.0), its.get("CPU", 0.0), frozenset(need)
        if alike not in seen:
            seen.add(alike)
            found.append((breaks, rest, position))
    return [position for _, _, position in sorted(found)]


def _move(node: dict[str, float], need: Need, sign: int) -> None:
    for name, amount in need.items():
        node[name] = node.get(name, 0.0) + sign * amount


def _in_order(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str, chosen: Mapping[int, int]) -> dict[int, int]:
    """Of nodes with the same left to give, earlier ones for earlier parts, so that ranks follow the nodes."""
    names = sorted({name for need in needs for name in need})
    used: dict[object, dict[int, None]] = {}
    for which in sorted(chosen):
        node = nodes[chosen[which]]
        alike = node.total.get(lead, 0.0), tuple(node.free.get(name, 0.0) for name in names)
        used.setdefault(alike, {})[chosen[which]] = None
    instead = {node: other for its in used.values() for node, other in zip(its, sorted(its))}
    return {which: instead[node] for which, node in chosen.items()}


def _alike(needs: Sequence[Need]) -> list[list[int]]:
    """Positions of equal needs, together."""
    found: dict[tuple[tuple[str, float], ...], list[int]] = {}
    for which, need in enumerate(needs):
        found.setdefault(tuple(sorted(need.items())), []).append(which)
    return list(found.values())
