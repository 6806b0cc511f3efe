"""In which order the ranks of a component go through its nodes: domain by domain, so that what is kept together stays together."""

from __future__ import annotations

from typing import Mapping, Sequence

from ....models.locality import WHOLE
from ....models.machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL, NUMA
from ....models.placements.assignment import Seat
from ..bundle import Bundle
from ..cells.room import numa_domains
from ..grain import size_of
from ..layout import Layout
from ..masks import bits

Bricks = dict[int, list[Seat]]
"""Size of groups -> the resources of as many whole ones as there are, one group after the other."""


def in_rank_order(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    """The resources of a bundle in the order in which a component takes them that nothing else is asked of.

    `held` are the bundle's resources of each node as bit masks. A contiguous bundle goes through its numbering. Others go through the
    domains of the widest level one after the other, inside each through those of the next one, and so on; where a dialect wants nodes in
    order, through the nodes. Groups that should be kept together come first wherever a domain has all of one, what is left comes last.
    """
    if bundle.contiguous:
        first = layout.numbering(bundle).first
        return [(node, index) for node in sorted(held, key=lambda node: first.get(node, node)) for index in bits(held[node])]
    if layout.problem.job.capabilities.nodes_in_order:
        return [seat for node in sorted(held) for part in _parts(layout, bundle, node, held[node]) for seat in part]
    return _by_domain(layout, bundle, held)


def _by_domain(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    neighbours = layout.neighbours
    levels = [level for level in LEVELS if all(neighbours.nests(level, kept) for kept, _ in bundle.wholes)]
    nodes = sorted(held, key=lambda node: (*(neighbours.of(level, node) for level in levels), node))
    sizes = _sizes(bundle)
    parts = [(node, part) for node in nodes for part in _parts(layout, bundle, node, held[node])]
    plain = [seat for _, part in parts for seat in part]
    if not sizes:
        return plain
    found: list[tuple[tuple[int, int], Bricks]] = [((node, number), {bundle.piece: part}) for number, (node, part) in enumerate(parts)]
    # Levels at which nothing is kept together may cross the others; those that count nest, or it is not searched.
    for level in (NUMA, NODE_LEVEL, *(level for level in reversed(LEVELS) if max(sizes[level], default=0) > bundle.unit)):
        together: dict[tuple[int, int], list[Bricks]] = {}
        for (node, number), bricks in found:
            key = (node, number) if level == NUMA else (neighbours.of(level, node), 0)
            together.setdefault(key, []).append(bricks)
        found = [(key, _merged(its, sizes.get(level, ()))) for key, its in together.items()]
    whole = _merged([bricks for _, bricks in found], ())
    merged = [seat for size in sorted(whole, reverse=True) for seat in whole[size]]
    # The order of the nodes is the shorter text, where it cuts no more.
    return plain if _cut(layout, bundle, plain) <= _cut(layout, bundle, merged) else merged


def _cut(layout: Layout, bundle: Bundle, order: Sequence[Seat]) -> list[int]:
    """How many groups that must, and how many that should be kept together an order of ranks cuts."""
    counts = []
    for asked in (bundle.wholes, _wishes(bundle)):
        count = 0
        for level, size in asked:
            homes = [_home(layout, bundle, level, seat) for seat in order]
            count += sum(len(set(homes[start : start + size])) > 1 for start in range(0, len(homes), size))
        counts.append(count)
    return counts


def _home(layout: Layout, bundle: Bundle, level: str, seat: Seat) -> tuple[int, int]:
    """The domain of a level that a resource is in."""
    node, index = seat
    if level != NUMA:
        return layout.neighbours.of(level, node), 0
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return node, next(number for number, domain in enumerate(domains) if domain >> index & 1)


def _sizes(bundle: Bundle) -> dict[str, Sequence[int]]:
    """Level -> the sizes of the groups that it should hold whole, ascending; nothing where no wish goes beyond what is required."""
    wishes = _wishes(bundle)
    if not wishes:
        return {}
    asked = [*wishes, *bundle.wholes, (NODE_LEVEL, bundle.unit)]
    return {level: sorted({size for its, size in asked if its == level}) for level in ALL_LEVELS}


def _wishes(bundle: Bundle) -> list[tuple[str, int]]:
    """(level, size) of the groups that are better kept together."""
    keeps = [(component, keep) for component in bundle.components for keep in component.keep]
    return [(keep.level, size_of(component, keep)) for component, keep in keeps if not keep.required and keep.what != WHOLE]


def _merged(several: Sequence[Bricks], sizes: Sequence[int]) -> Bricks:
    """The bricks of several domains as those of the one around them, in as many whole groups of each size as there are."""
    bricks: Bricks = {}
    for its in several:
        for size, seats in its.items():
            bricks.setdefault(size, []).extend(seats)
    for size in sizes:
        smaller = sorted((each for each in bricks if each < size), reverse=True)
        if any(size % each for each in smaller):
            continue  # sizes that do not divide each other: the smaller ones stay whole
        left = sum(len(bricks[each]) for each in smaller) // size * size
        for each in smaller:
            taken, bricks[each] = bricks[each][:left], bricks[each][left:]
            bricks.setdefault(size, []).extend(taken)
            left -= len(taken)
    return bricks


def _parts(layout: Layout, bundle: Bundle, node: int, mask: int) -> list[list[Seat]]:
    """What a bundle has of a node; NUMA domain by NUMA domain where these matter to it."""
    numa = bundle.piece > 1 or any(keep.level == NUMA for component in bundle.components for keep in component.keep)
    if not numa:
        return [[(node, index) for index in bits(mask)]]
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return [[(node, index) for index in bits(mask & domain)] for domain in domains if mask & domain]
