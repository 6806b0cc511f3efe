"""Is there room for actor and rollout apart? Counted, so that hints which leave both ways open get one that can be."""

from __future__ import annotations

from ....assignment import Assignment
from ....component import COLOCATED, SUBSET, Component
from ....node_group import ACCELERATOR
from .parts import Parts


def can_be_equal(parts: Parts) -> bool:
    """May actor and rollout have as many accelerators as each other?"""
    ranges = [_amounts(component) for name in ("actor", "rollout") if (component := parts.on_accelerators(name))]
    return max(least for least, _ in ranges) <= min(most for _, most in ranges)


def room_apart(parts: Parts) -> bool:
    """Do all that must have accelerators of their own find as many as they ask for at least, on the nodes that they may use?

    A count over every set of nodes that one or two of them may use: if it fails, they do not; if not, they may still not.
    """
    free = _free(parts)
    needs = list(_needs(parts))
    areas = {one | other for one, _ in needs for other, _ in needs}
    return all(sum(need for nodes, need in needs if nodes <= area) <= sum(free.get(node, 0) for node in area) for area in areas)


def together(parts: Parts, name: str = "actor") -> set[str]:
    """The components that the hints colocate with one, through others too."""
    found, before = {name}, 0
    while len(found) > before:
        before = len(found)
        found |= {other for r in parts.hinted if r.kind == COLOCATED and found & set(r.components) for other in r.components}
    return found


def _amounts(component: Component) -> tuple[int, int]:
    """The fewest and the most accelerators that it has."""
    if component.runs is None:
        return component.least, component.most
    held = Assignment({component.name: component.runs}).held(component.name)
    return held, held


def _free(parts: Parts) -> dict[int, int]:
    """node rank -> how many accelerators are held neither by given components nor by other jobs."""
    given: dict[int, int] = {}
    for component in parts.components.values():
        for (node, kind), mask in Assignment({component.name: component.runs or ()}).masks(component.name).items():
            if kind == ACCELERATOR:
                given[node] = given.get(node, 0) | mask
    return {node.rank: (node.free(ACCELERATOR) & ~given.get(node.rank, 0)).bit_count() for node in parts.cluster.nodes}


def _needs(parts: Parts) -> list[tuple[frozenset[int], int]]:
    """(nodes, least) of all that are placed together and share with nobody else."""
    seen: set[str] = set()
    found = []
    inner = {relation.components[0] for relation in parts.hinted if relation.kind == SUBSET}
    for name in parts.components:
        names = together(parts, name)
        if name in seen or not parts.is_open(name):
            continue
        seen |= names
        members = [member for each in names if (member := parts.on_accelerators(each))]
        if not names & inner and all(member.runs is None for member in members):
            nodes = frozenset.intersection(*(parts.cluster.members(member.node_groups) for member in members))
            found.append((nodes, max(member.least for member in members)))
    return found
