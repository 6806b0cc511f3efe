"""Where one row for each size of group says exactly what fits: the theorem that lets many nodes be one cell.

If the sizes form a divisor chain, groups fit on nodes with f_n free resources exactly if for every size s the groups of size s or more
take together, in pieces of s, no more than the sum of floor(f_n / s): placed largest first, a group of size t takes exactly t / s of the
pieces of s that there are, and a group of size s fits wherever one such piece is left.

Sizes that form no chain may be rounded up to some that do, where on these nodes that rules out nothing: beside groups of 3 a group of 8
takes all of a node of 8, and 9 of one of 12.

With NUMA domains there are two kinds of holders. A piece of size p that lies inside a NUMA domain is counted by the sum of
floor(f_d / p) over domains. That stays exact as long as whatever is placed before it takes exact multiples of p out of each domain: groups
that themselves consist of multiples of p inside domains do; others only where every domain has a multiple of p.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Iterable, Iterator, Mapping, Sequence

from ..bundle import Bundle
from .room import Room


def is_chain(sizes: Iterable[int]) -> bool:
    """Does every size divide the next larger one?"""
    ordered = sorted(set(sizes))
    return all(large % small == 0 for small, large in zip(ordered, ordered[1:]))


def rounded(sizes: Iterable[int], free: Iterable[int]) -> Mapping[int, int] | None:
    """Round sizes up to a divisor chain that leaves all that fits on nodes with so much free; None if none does."""
    return _rounded(tuple(sorted(set(sizes))), tuple(sorted(set(free))))


@lru_cache(1024)
def _rounded(sizes: Sequence[int], free: Sequence[int]) -> Mapping[int, int] | None:
    room = free[-1] if free else 0
    small = [size for size in sizes if size <= room]
    chains = (dict(zip(small, chain)) for chain in _chains(small, 1, room))
    found = next((chain for chain in chains if all(_most(chain, each) <= each for each in free)), None)
    return None if found is None else {size: found.get(size, size) for size in sizes}


def _chains(sizes: Sequence[int], before: int, most: int) -> Iterator[tuple[int, ...]]:
    """All that ascending sizes can be rounded up to, each a multiple of the one before it, those that grow least first."""
    if not sizes:
        yield ()
        return
    for size in range(-(-sizes[0] // before) * before, most + 1, before):
        yield from ((size, *rest) for rest in _chains(sizes[1:], size, most))


def _most(chain: Mapping[int, int], free: int) -> int:
    """The most that groups which fit on a node take there once they are rounded up."""
    most = [0] * (free + 1)
    for room in range(1, free + 1):
        most[room] = max([most[room - 1], *(size + most[room - unit] for unit, size in chain.items() if unit <= room)])
    return most[free]


def is_exact(bundles: Sequence[Bundle], room: Room, ranged: bool, moved: bool = False) -> bool:
    """Do rows say exactly what fits of these counted bundles on several nodes together?

    Parameters
    ----------
    ranged : ranges may take any part of these nodes first.
    moved : so may groups that stay where they were.
    """
    pieces = sorted({bundle.piece for bundle in bundles if bundle.piece > 1})
    sizes = [*pieces, *(bundle.unit for bundle in bundles)]
    if not is_chain(sizes):
        return not (pieces or ranged or moved) and rounded(sizes, room.free) is not None
    for size in pieces:
        cut = [bundle for bundle in bundles if bundle.unit > size and bundle.piece % size]
        composed = [bundle for bundle in bundles if bundle.piece == size < bundle.unit]
        if (cut or composed) and (ranged or not room.divides(size)):
            return False
    return True
