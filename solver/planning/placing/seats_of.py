"""The accelerators that an open component around given ones may have, in every way; of those that are alike, any."""

from __future__ import annotations

from itertools import accumulate, product
from math import prod
from typing import Iterator, Sequence

from ....models.machines.topology import NUMA, domain, path
from ....models.placements.assignment import Seat
from ....models.record import dataclass
from ...layout.bundle import Bundle
from ...layout.parts import Parts
from .kept import free_beside, least, most, seats_held

Alike = tuple[Seat, ...]
"""Accelerators of a node that the same given components hold: any so many of them are as good as any others."""
MOST = 128
"""Sets of accelerators that are tried in all, at most: each may be a placement of all else."""
MOST_LISTED = 1 << 17
"""Sets that are listed in all, at most, on one node or on several: few of many may be whole in each domain."""


@dataclass
class Left:
    """How many sets may still be tried, and how many listed: the sets of a large node or of many nodes are more than can be looked at."""

    number: int = MOST
    listed: int = MOST_LISTED


def seats_of(parts: Parts, host: Bundle, inner: Sequence[Bundle], left: Left) -> Iterator[frozenset[Seat]]:
    """The sets that hold all that lies inside, in whole groups on each node and in each domain; the smallest first.

    Those that spread over few nodes come before others of their size. Where no more may be listed, `left.listed` is 0 and those after it
    are missing.
    """
    inside = frozenset(seat for each in inner for seat in seats_held(parts, each))
    if host.contiguous:
        yield from _ranges(parts, host, inside)
        return
    machines, members = parts.problem.cluster.nodes, _members(parts, host)
    nodes = sorted(members.union(node for node, _ in inside), key=lambda each: (path(machines[each]), each))  # a domain is filled at once
    ways = [_on_node(parts, host, node, inside, node in members, left) for node in nodes]
    if not left.listed or not all(ways):
        return
    fewest, largest = ([0, *accumulate(len(its[end]) for its in reversed(ways))][::-1] for end in (-1, 0))
    rest = list(zip(fewest, largest))
    for size in range(max(least(host), len(inside)), most(host) + 1):
        if size % host.unit:
            continue
        for seats in _on_one_node(ways, size) if host.single else _of_size(ways, rest, size, 0):
            if _is_whole(parts, host, seats):
                yield frozenset(seats)
            left.listed = max(0, left.listed - 1)
            if not left.listed:
                return


def _of_size(ways: Sequence[Sequence[Alike]], rest: Sequence[tuple[int, int]], size: int, node: int) -> Iterator[Alike]:
    """One way of each node from this one on, so many accelerators in all; `rest` says the fewest and the most that those from a node on have."""
    if node == len(ways):
        yield ()
        return
    fewest, largest = rest[node + 1]
    for way in ways[node]:
        if len(way) + fewest <= size <= len(way) + largest:
            for others in _of_size(ways, rest, size - len(way), node + 1):
                yield (*way, *others)


def _on_one_node(ways: Sequence[Sequence[Alike]], size: int) -> Iterator[Alike]:
    """The ways in which all of it is on one node, and nothing on any other."""
    needed = [place for place, its in enumerate(ways) if its[-1]]
    for place, its in enumerate(ways):
        if all(place == each for each in needed):
            yield from (way for way in its if len(way) == size)


def _members(parts: Parts, host: Bundle) -> frozenset[int]:
    """The ranks of the nodes that all components of a bundle may use."""
    cluster, found = parts.problem.cluster, frozenset(node.rank for node in parts.problem.cluster.nodes)
    for component in host.components:
        its = frozenset(cluster.members(component.node_groups)) - frozenset(component.excluded)
        model = component.accelerator_model
        found &= frozenset(rank for rank in its if not model or cluster.nodes[rank].accelerator_model == model)
    return found


def _on_node(parts: Parts, host: Bundle, node: int, inside: frozenset[Seat], may: bool, left: Left) -> list[Alike]:
    """What it may have on a node, the most of it first; there it has what lies inside, and else whole groups or nothing."""
    here = [seat for seat in sorted(inside) if seat[0] == node]
    classes = _alike(parts, host, node, inside) if may else []
    found = []
    left.listed = max(0, left.listed - prod(len(its) + 1 for its in classes))
    for counts in product(*(range(len(its), -1, -1) for its in classes)) if left.listed else ():
        way = (*here, *(seat for its, count in zip(classes, counts) for seat in its[:count]))
        if len(way) % host.unit == 0 and (host.piece == 1 or _in_pieces(parts, host, way)):
            found.append(way)
    return sorted(found, key=len, reverse=True)


def _alike(parts: Parts, host: Bundle, node: int, inside: frozenset[Seat]) -> list[Alike]:
    """The accelerators of a node that it may have besides, those together that are alike; each alone where ranges are searched."""
    accelerators = parts.problem.cluster.nodes[node].accelerators
    apart = bool(parts.ranged)
    in_domains = any(keep.level == NUMA for each in parts.problem.components for keep in each.keep)
    found: dict[object, list[Seat]] = {}
    for seat in free_beside(parts, host, node):
        if seat not in inside:
            index = seat[1]
            holders = tuple(given.name for given, its in parts.fixed.items() if given.kind == host.kind and its.get(node, 0) >> index & 1)
            place = index if apart else accelerators[index].numa if in_domains else 0
            found.setdefault((holders, place), []).append(seat)
    return [tuple(its) for its in found.values()]


def _in_pieces(parts: Parts, host: Bundle, seats: Alike) -> bool:
    """Are there whole pieces of it in each NUMA domain of a node?"""
    accelerators = parts.problem.cluster.nodes
    held: dict[int, int] = {}
    for node, index in seats:
        numa = accelerators[node].accelerators[index].numa
        held[numa] = held.get(numa, 0) + 1
    return not any(count % host.piece for count in held.values())


def _is_whole(parts: Parts, host: Bundle, seats: Alike) -> bool:
    """Does each domain above the nodes hold whole groups of it?"""
    nodes = parts.problem.cluster.nodes
    for level, size in host.wholes:
        held: dict[str, int] = {}
        for node, _ in seats:
            name = domain(nodes[node], level)
            held[name] = held.get(name, 0) + 1
        if any(count % size for count in held.values()):
            return False
    return True


def _ranges(parts: Parts, host: Bundle, inside: frozenset[Seat]) -> Iterator[frozenset[Seat]]:
    """The ranges of its numbering that hold all that lies inside; the shortest first."""
    stretches = parts.numbering(host).stretches
    seats = [(stretch.node_rank, index) for stretch in stretches for index in range(stretch.count)]
    free = {seat for stretch in stretches for seat in free_beside(parts, host, stretch.node_rank)} | inside
    for size in range(max(least(host), len(inside)), min(most(host), len(seats)) + 1):
        for start in range(len(seats) - size + 1) if size % host.unit == 0 else ():
            its = frozenset(seats[start : start + size])
            if inside <= its <= free:
                yield its
