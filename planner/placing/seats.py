"""Accelerators that an open component around given ones may have."""

from __future__ import annotations

from dataclasses import field
from itertools import accumulate, product
from math import prod
from typing import Iterator, Mapping, Sequence

from ...models.findings.wording import are, with_noun
from ...models.machines.node_group import ACCELERATOR
from ...models.machines.topology import NUMA, domain, path
from ...models.placements.assignment import Seat
from ...models.record import dataclass
from ...solver.layout.bundle import Bundle
from ...solver.layout.parts import Parts, bits

Hosts = Mapping[Bundle, Sequence[Bundle]]
"""Open bundle -> the given ones that lie within it, the innermost open ones first."""


Alike = tuple[Seat, ...]
"""Accelerators of a node that the same given components hold: any so many of them are as good as any others."""
MOST = 128
"""Sets of accelerators that are tried in all, at most: each may be a placement of all else."""
MOST_LISTED = 1 << 17
"""Sets that are listed in all, at most, on one node or on several: few of many may be whole in each domain."""


@dataclass
class Kept:
    """What each bundle has where given ones are, and which of it whole groups there need besides (`added`); `exact` and `short` as of a Split."""

    seats: dict[Bundle, frozenset[Seat]] = field(default_factory=dict)
    added: dict[Bundle, list[Seat]] = field(default_factory=dict)
    exact: bool = True
    short: str = ""


def kept_of(parts: Parts, hosts: Hosts) -> Kept:
    """What the bundles keep, up to the first for which that cannot be."""
    found, held = Kept(exact=not others_may_share(parts, hosts)), set[Seat]()
    for host, inner in hosts.items():
        its = {seat for each in inner for seat in seats_held(parts, each)}
        its |= {seat for other, seats in found.seats.items() if host in parts.hosts[other] for seat in seats}
        for node in sorted({node for node, _ in its}):
            lacks = -sum(rank == node for rank, _ in its) % host.unit
            free = [seat for seat in free_beside(parts, host, node) if seat not in its and seat not in held]
            if lacks > len(free):
                found.short = f"groups of {host.unit} need {lacks} more of node {node}, {len(free)} {are(len(free))} free there"
                return found
            found.exact = found.exact and (not lacks or not _matters(parts, host))
            found.added.setdefault(host, []).extend(free[:lacks])
            its.update(free[:lacks])
            held.update(free[:lacks])
        found.seats[host] = frozenset(its)
        if least(host) > most(host):
            found.short = f"no count fits {host.name}, which are on the same accelerators"
            return found
        if len(its) == most(host) and not may_have(host, len(its)):
            found.short = f"{host.name} has {with_noun(len(its), 'accelerator')} there and can have no more, and may not have as many"
            return found
        if len(its) > most(host):
            found.short = f"{host.name} has at least {with_noun(len(its), 'accelerator')} there, and may have {most(host)}"
            return found
    return found


def others_may_share(parts: Parts, hosts: Hosts) -> bool:
    """May given ones share with these that do not lie within them, since all given ones may share with each other?"""
    given = {each for each in parts.bundles if each.fixed}
    return parts.problem.job.capabilities.shares_accelerators and any(given.difference(inner) for inner in hosts.values())


def seats_held(parts: Parts, given: Bundle) -> Iterator[Seat]:
    """The accelerators of a given bundle."""
    return ((node, index) for node, mask in parts.fixed[given].items() for index in bits(mask))


def free_beside(parts: Parts, host: Bundle, node: int) -> Iterator[Seat]:
    """The accelerators of a node that a bundle may have beside given ones: those that nothing given holds but what it lies within."""
    around = [each for each in parts.hosts[host] if each.fixed]
    mask = parts.problem.cluster.nodes[node].free(ACCELERATOR)
    for given, its in parts.fixed.items():
        if given.kind == ACCELERATOR:
            mask &= its.get(node, 0) if given in around else ~its.get(node, 0)
    return ((node, index) for index in bits(mask))


def _matters(parts: Parts, host: Bundle) -> bool:
    """May it matter which accelerators of a node a group takes: of given ones that it lies within, to ranges, to pieces of NUMA domains?"""
    return any(each.fixed for each in parts.hosts[host]) or any(each.contiguous or each.piece > 1 for each in parts.searched)


def least(host: Bundle) -> int:
    """The fewest accelerators of a bundle."""
    return host.least * host.unit


def may_have(host: Bundle, amount: int) -> bool:
    """Do all members ask for so many accelerators?"""
    return least(host) <= amount and all(component.may_have(amount) for component in host.components)


def most(host: Bundle) -> int:
    """The most."""
    return host.most * host.unit


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
