"""Groups that must move whatever is done, by counting alone: where whole replicas were torn, and where large groups find no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ....models.machines.topology import domain
from .pieces import Piece, movable, survivors

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.layout import Layout
    from ...layout.pool import Pool


def forced_moves(layout: Layout) -> int:
    """No answer moves fewer groups than this."""
    return sum(_in_pool(layout, pool) for pool in layout.pools if pool.host is None)


def _in_pool(layout: Layout, pool: Pool) -> int:
    sets = {members[0].name: members for members in movable(layout.problem)}
    stay: dict[Bundle, list[Piece]] = {}
    for bundle in pool.counted:
        if bundle.components == sets.get(bundle.components[0].name):
            its, nodes = survivors(layout.problem, bundle.components).at, layout.eligible[bundle]
            stay[bundle] = [piece for piece in its if piece[0] in nodes and not piece[1] & ~pool.free.get(piece[0], 0)]
    left = {node.rank: pool.free.get(node.rank, 0).bit_count() for node in layout.problem.cluster.nodes}
    for bundle, pieces in stay.items():
        for node, _ in pieces:
            left[node] -= bundle.unit
    if min(left.values(), default=0) < 0 or any(len(pieces) > bundle.most for bundle, pieces in stay.items()):
        return 0  # some cannot stay, or must end: nothing is counted here
    return max(_torn(layout, stay, left), _without_room(pool, stay, left))


def _torn(layout: Layout, stay: dict[Bundle, list[Piece]], left: dict[int, int]) -> int:
    """Domains that hold a part of what must be whole in them, and no room for the rest: from each of them a group must go.

    Either one of its own, or another that makes room; two of these domains have no such group in common.
    """
    best = 0
    for level in {level for bundle in stay for level, _ in bundle.wholes}:
        names = {node.rank: domain(node, level) for node in layout.problem.cluster.nodes}
        torn: set[str] = set()
        for bundle, pieces in stay.items():
            block = bundle.whole(level) // bundle.unit
            there: dict[str, int] = {}
            for node, _ in pieces:
                there[names[node]] = there.get(names[node], 0) + 1
            room: dict[str, int] = {}
            for node in layout.eligible[bundle]:
                room[names[node]] = room.get(names[node], 0) + max(0, left[node]) // bundle.unit
            torn |= {name for name, count in there.items() if count % block and room.get(name, 0) < block - count % block}
        best = max(best, len(torn))
    return best


def _without_room(pool: Pool, stay: dict[Bundle, list[Piece]], left: dict[int, int]) -> int:
    """Slots that large groups lack beside all that could stay: a smaller group that goes leaves one at most, a larger one takes its own.

    Of larger ones there may be more than are asked for at least: one of these that goes leaves all of its slots.
    """
    best = 0
    for size in sorted({bundle.unit for bundle in pool.counted}):
        larger = [bundle for bundle in pool.counted if bundle.unit >= size]
        if any(bundle.unit % size for bundle in larger):
            continue
        need = sum(bundle.unit // size * max(0, bundle.least - len(stay.get(bundle, ()))) for bundle in larger)
        lacks = need - sum(free // size for free in left.values())
        spare = ((bundle.unit // size, len(stay.get(bundle, ())) - bundle.least) for bundle in larger)
        best = max(best, _going(lacks, sorted(spare, reverse=True)))
    return best


def _going(lacks: int, spare: Sequence[tuple[int, int]]) -> int:
    """How many groups go at least until so many slots are there; `spare`: (slots of a group, how many could go), those with the most first."""
    going = 0
    for slots, count in spare:
        some = max(0, min(count, -(-lacks // slots)))
        going, lacks = going + some, lacks - some * slots
    return going + max(0, lacks)
