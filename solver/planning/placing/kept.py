"""What open components around given ones have where these are: all of theirs, and as many more as whole groups need on each node."""

from __future__ import annotations

from dataclasses import field
from typing import Iterator, Mapping, Sequence

from ....models.findings.wording import are, with_noun
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Seat
from ....models.record import dataclass
from ...layout.bundle import Bundle
from ...layout.masks import bits
from ...layout.parts import Parts

Hosts = Mapping[Bundle, Sequence[Bundle]]
"""Open bundle -> the given ones that lie within it, the innermost open ones first."""


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
