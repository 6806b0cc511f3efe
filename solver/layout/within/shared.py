"""Resources that some searched bundles may use and others only in part: on single nodes numbers say whether all of them have room."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Iterator, Mapping, NamedTuple, Sequence

from ..bundle import Bundle
from ..masks import lowest
from ..pool import Pool


class Room(NamedTuple):
    """Some resources of a node, or those of them that a range has.

    Attributes
    ----------
    mask : which these are.
    around : the range whose they are; None for all of them.
    inner : the bundles inside no smaller range that can be on no others of the node, and lie within none such.
    ranges : those that are one range, may be on others too, and lie inside no smaller range.
    """

    mask: int
    around: Bundle | None
    inner: tuple[Bundle, ...]
    ranges: tuple[Bundle, ...]


def shared(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """The pools of the kinds of which some may use given resources in part, or of which ranges lie within what is counted."""
    kinds = {pool.kind for pool in pools if (pool.host is not None and not pool.host.contiguous and pool.ranged) or _partly(pool, pools)}
    return tuple(pool for pool in pools if pool.kind in kinds)


def _partly(pool: Pool, pools: Sequence[Pool]) -> bool:
    """May others use some of its resources, and not just the same?"""
    others = (each for each in pools if each.kind == pool.kind and each.free != pool.free)
    return any(mask & each.free.get(node, 0) for each in others for node, mask in pool.free.items())


def is_countable(one: Pool, other: Pool) -> bool:
    """Do numbers say what fits beside ranges? On each node the resources of one must be among those of the other, or none; no NUMA domains."""
    solid = any(bundle.piece > 1 for pool in (one, other) for bundle in pool.bundles)
    return not solid and all((mask & (its := other.free.get(node, 0))) in (0, mask, its) for node, mask in one.free.items())


def ring_of(of: Mapping[Bundle, Pool], bundle: Bundle) -> Bundle | None:
    """The smallest range that a bundle lies within."""
    host = of[bundle].host
    while host is not None and not host.contiguous:
        host = of[host].host
    return host


def rooms(pools: Sequence[Pool], node: int) -> Iterator[Room]:
    """The sets of resources of a node that bundles of shared pools may use, the fewest first, and what ranges have of each.

    If in each of them the ranges and the bundles that can be on no others have together no more than there is, and what lies within a
    bundle no more than that has, all fit: after the ranges the others take what they may use, those first that may use the fewest.
    Each finds there what is held by then of what lies within it, and as many more as it needs that nobody has.
    """
    of = {bundle: pool for pool in pools for bundle in pool.bundles}
    ring = {bundle: ring_of(of, bundle) for bundle in of}
    for mask in sorted({pool.free.get(node, 0) for pool in pools} - {0}, key=lambda its: (its.bit_count(), its)):
        may = {bundle for bundle, pool in of.items() if not pool.free.get(node, 0) & ~mask}
        for around in dict.fromkeys(ring.values()):
            its = [bundle for bundle in of if ring[bundle] is around]
            inner = tuple(bundle for bundle in its if bundle in may and of[bundle].host not in may)
            yield Room(mask, around, inner, tuple(bundle for bundle in its if bundle.contiguous and bundle not in may))


def held_on(pools: Sequence[Pool], node: int, wanted: Mapping[Bundle, int], ranges: Mapping[Bundle, int]) -> dict[Bundle, int] | None:
    """What each bundle of shared pools holds of a node, as a bit mask; None where it does not fit.

    `wanted` : how much each counted one holds there.
    `ranges` : what each of the others does.
    """
    of = {bundle: pool for pool in pools for bundle in pool.bundles}
    held = {bundle: ranges.get(bundle, 0) for bundle in of}

    def inside(bundle: Bundle) -> int:
        """What is held by then of what lies within a bundle."""
        return reduce(or_, (held[inner] | inside(inner) for inner, pool in of.items() if pool.host is bundle), 0)

    def take(bundle: Bundle, left: int) -> None:
        """What is held within it already, and the lowest of what is left; then those take theirs that may use the same and lie within it."""
        if not bundle.contiguous:
            its = inside(bundle)
            held[bundle] = its | lowest(left & ~its, wanted.get(bundle, 0) - its.bit_count())
        for inner, pool in of.items():
            if pool.host is bundle and pool.free.get(node, 0) == of[bundle].free.get(node, 0):
                take(inner, held[bundle] & ~inside(bundle))

    for mask, around, outermost, _ in rooms(pools, node):
        for bundle in (each for each in outermost if of[each].free.get(node, 0) == mask):
            taken = (held[each] for each, pool in of.items() if each.contiguous or not pool.free.get(node, 0) & ~mask)
            left = ~reduce(or_, taken, 0) if around is None else held[around] & ~inside(around)
            take(bundle, mask & left)
    return held if all(held[bundle].bit_count() == wanted.get(bundle, 0) for bundle in of if not bundle.contiguous) else None
