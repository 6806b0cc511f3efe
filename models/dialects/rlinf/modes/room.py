"""Is there room for actor and rollout apart? Counted, so that hints which leave both ways open get one that can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from ....component import COLOCATED, SUBSET, UNBOUNDED, Component
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment
from .degrees import Degrees
from .parts import Parts


@dataclass(frozen=True, slots=True)
class Size:
    """`each` accelerators a process, as many of them as are a multiple of `multiple`, and no fewer than `least`."""

    each: int = 1
    multiple: int = 1
    least: int = 1


Sizes = Mapping[str, Size]
"""Of actor and rollout, as far as the settings say it."""


def sizes(actor: Degrees, rollout: Degrees, replicates: bool, apart: bool) -> Sizes:
    """Those that the degrees demand; only where they are `apart` an engine of rollout has its pp. `replicates`: the actor is whole replicas."""
    found = {}
    if actor.tp and actor.parallel:
        found["actor"] = Size(1, actor.parallel.replica if replicates else 1, actor.tp.value)
    if rollout.tp and rollout.pp:
        each = rollout.tp.value * (rollout.pp.value if apart else 1)
        found["rollout"] = Size(each, each, each)
    return found


def can_be_equal(parts: Parts, demanded: Sizes) -> bool:
    """May actor and rollout have as many accelerators as each other?"""
    ranges = [_amounts(component, demanded) for name in ("actor", "rollout") if (component := parts.on_accelerators(name))]
    return max(least for least, _ in ranges) <= min(most for _, most in ranges)


def room_apart(parts: Parts, demanded: Sizes) -> bool:
    """Do all that must have accelerators of their own find as many as they ask for at least, on the nodes that they may use?

    A count over every set of nodes that one or two of them may use: if it fails, they do not; if not, they may still not.
    """
    free = _free(parts)
    needs = _needs(parts, demanded)
    areas = {one | other for one, _ in needs for other, _ in needs}
    return all(sum(need for nodes, need in needs if nodes <= area) <= sum(free.get(node, 0) for node in area) for area in areas)


def together(parts: Parts, name: str = "actor") -> set[str]:
    """The components that the hints colocate with one, through others too."""
    found, before = {name}, 0
    while len(found) > before:
        before = len(found)
        found |= {other for r in parts.hinted if r.implies == COLOCATED and found & set(r.components) for other in r.components}
    return found


def _amounts(component: Component, demanded: Sizes) -> tuple[int, int]:
    """The fewest and the most accelerators that it has."""
    if component.runs is not None:
        held = Assignment({component.name: component.runs}).held(component.name)
        return held, held
    size, least, most = demanded.get(component.name, Size()), component.least, component.most
    if "processes" in component.spans and "accelerators" not in component.spans:
        least = least // component.per_process * size.each
        most = most if most >= UNBOUNDED else most // component.per_process * size.each
    return max(-(-least // size.multiple) * size.multiple, size.least), most


def _free(parts: Parts) -> dict[int, int]:
    """node rank -> how many accelerators are held neither by given components nor by other jobs."""
    given: dict[int, int] = {}
    for component in parts.components.values():
        for (node, kind), mask in Assignment({component.name: component.runs or ()}).masks(component.name).items():
            if kind == ACCELERATOR:
                given[node] = given.get(node, 0) | mask
    return {node.rank: (node.free(ACCELERATOR) & ~given.get(node.rank, 0)).bit_count() for node in parts.cluster.nodes}


def _needs(parts: Parts, demanded: Sizes) -> list[tuple[frozenset[int], int]]:
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
            found.append((nodes, max(_amounts(member, demanded)[0] for member in members)))
    return found
