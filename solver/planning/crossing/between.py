"""What two sets of components take for traffic at least, that lie on different accelerators: of what they exchange, and of what crosses inside."""

from __future__ import annotations

from typing import NamedTuple

from ....models.planning.crossing import Flow
from .rooms import Rooms


class Side(NamedTuple):
    """One of two sets.

    Attributes
    ----------
    rooms : the domains of its kind of accelerators.
    amount : its accelerators.
    least : so many of them are in a domain at least where any are.
    group : they come in whole groups of this on each node.
    traffic : MiB that cross inside it for every domain beyond its first, as far as they are counted here.
    """

    rooms: Rooms
    amount: int
    least: int
    group: int
    traffic: int

    @property
    def fewest(self) -> int:
        """How few domains hold it; one more than there are where all of them do not."""
        found = self.rooms.fewest(self.amount, self.group)
        return found if found is not None else self.rooms.count + 1

    @property
    def widest(self) -> int:
        """How many domains it can be in."""
        return min(self.amount // self.least, self.rooms.count)


def between(source: Side, target: Side, flow: Flow, inside: bool) -> int:
    """MiB that cross at least, beyond what crosses inside both in the fewest domains; 0 where they have no room.

    Every number of domains for each of both is tried, with as many in common as there is room for. `inside`: the source lies on some of
    the accelerators of the target.
    """
    alike = source.rooms is target.rooms
    shared = sum(one and other for one, other in zip(source.rooms.there, target.rooms.there))
    together = source.rooms.fewest(source.amount + target.amount) if alike and not inside else 0
    if together is None or source.fewest > source.widest or target.fewest > target.widest:
        return 0
    base = source.traffic * source.fewest + target.traffic * target.fewest
    best: int | None = None
    for ones in range(source.fewest, source.widest + 1) if source.traffic else (source.widest,):
        if best is not None and source.traffic * ones + target.traffic * target.fewest - base >= best:
            break
        for others in range(target.fewest, target.widest + 1):
            apart = source.traffic * ones + target.traffic * others - base
            if best is not None and apart >= best:
                break
            common = min(ones, others, shared)
            if alike and not inside:
                common = min(
                    common,
                    ones + others - together,
                    (source.rooms.most(ones) - source.amount) // target.least,
                    (target.rooms.most(others) - target.amount) // source.least,
                )
            if common < 0:
                continue
            crosses = flow.weights * (others - common)
            if flow.stream:
                crosses += flow.stream * (target.amount - _served(source, target, common, flow.ratio, alike and not inside))
            if best is None or apart + crosses < best:
                best = apart + crosses
    return best or 0


def _served(source: Side, target: Side, common: int, ratio: int, tight: bool) -> int:
    """How many accelerators of the target the source serves at most in so many domains that hold some of both.

    `tight`: both need room there.
    """
    served = min(target.amount, ratio * source.amount)
    if not tight:
        return min(served, target.rooms.most(common))
    room = target.rooms.most(common)
    return max(0, min(served, room - source.least * common, ratio * (room - target.least * common), ratio * room // (1 + ratio)))
