"""Where one row for each size of group says exactly what fits: the theorem that lets many nodes be one cell.

If the sizes form a divisor chain, groups fit on nodes with f_n free resources exactly if for every size s the groups of size s or more
take together, in pieces of s, no more than the sum of floor(f_n / s): placed largest first, a group of size t takes exactly t / s of the
pieces of s that there are, and a group of size s fits wherever one such piece is left.

With NUMA domains there are two kinds of holders. A piece of size p that lies inside a NUMA domain is counted by the sum of
floor(f_d / p) over domains. That stays exact as long as whatever is placed before it takes exact multiples of p out of each domain: groups
that themselves consist of multiples of p inside domains do; others only where every domain has a multiple of p.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from ..bundle import Bundle
from .room import Room


def is_chain(sizes: Iterable[int]) -> bool:
    """Does every size divide the next larger one?"""
    ordered = sorted(set(sizes))
    return all(large % small == 0 for small, large in zip(ordered, ordered[1:]))


def is_exact(bundles: Sequence[Bundle], room: Room, ranged: bool) -> bool:
    """Do rows say exactly what fits of these counted bundles on several nodes together?

    `ranged` : ranges may take any part of these nodes first.
    """
    pieces = sorted({bundle.piece for bundle in bundles if bundle.piece > 1})
    if not is_chain([*pieces, *(bundle.unit for bundle in bundles)]):
        return False
    for size in pieces:
        cut = [bundle for bundle in bundles if bundle.unit > size and bundle.piece % size]
        composed = [bundle for bundle in bundles if bundle.piece == size < bundle.unit]
        if (cut or composed) and (ranged or not room.divides(size)):
            return False
    return True
