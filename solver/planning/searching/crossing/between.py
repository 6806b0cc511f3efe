"""What two sets of components take for traffic at least, that lie on different accelerators: of what they exchange, and of what crosses inside."""

from __future__ import annotations

from typing import NamedTuple

from .....models.planning.crossing import Flow
from .rooms import Rooms


class Side(NamedTuple):
    """One of two sets.

    Attributes
    ----------
    rooms : the domains of its kind of accelerators.
    amount, most : its accelerators, from so many to so many.
    least : so many of them are in a domain at least where any are.
    group : they come in whole groups of this on each node.
    traffic : MiB that cross inside it for every domain beyond its first, as far as they are counted here.
    """

    rooms: Rooms
    amount: int
    most: int
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
        return min(self.most // self.least, self.rooms.count)


def between(source: Side, target: Side, flow: Flow, inside: bool) -> int:
    """MiB that cross at least, beyond what crosses inside both in the fewest domains, of the fewest accelerators; 0 where they have no room.

    Numbers of domains are tried for both, with as many in common as there is room for, as long as more of them can cost less. `inside`:
    the source lies on some of the accelerators of the target.
    """
    tight = source.rooms is target.rooms and not inside
    together = source.rooms.fewest(source.amount + target.amount) if tight else 0
    first, last, start, end = source.fewest, source.widest, target.fewest, target.widest
    if together is None or first > last or start > end:
        return 0
    shared = sum(one and other for one, other in zip(source.rooms.there, target.rooms.there))
    source_room, target_room = source.rooms.held(), target.rooms.held()
    best: int | None = None
    for ones in range(first, last + 1) if source.traffic else (last,):
        of_source = source.traffic * (ones - first)
        if best is not None and of_source >= best:
            break
        most = min(ones, shared)
        room = (source_room[ones] - source.amount) // target.least if tight else most
        for others in range(start, end + 1):
            apart = of_source + target.traffic * (others - start)
            if best is not None and apart >= best:
                break
            # Written without `min`: of hundreds of accelerators this is asked millions of times.
            wished = most if most < others else others
            common = wished
            if tight:
                wished = room if room < wished else wished
                wished = wished if wished < ones + others - together else ones + others - together
                held = (target_room[others] - target.amount) // source.least
                common = held if held < wished else wished
            if common >= 0:
                crosses = flow.weights * (others - common)
                if flow.stream:
                    crosses += flow.stream * (target.amount - _served(source, target, common, flow.ratio, tight))
                if best is None or apart + crosses < best:
                    best = apart + crosses
            if not flow.stream and common == wished >= 0:
                break  # with more domains of the target no more of them are spared
        if not flow.stream and source.traffic >= flow.weights and room >= most and best is not None:
            break  # each further domain of the source spares the target one at most
    return best or 0


def _served(source: Side, target: Side, common: int, ratio: int, tight: bool) -> int:
    """How many accelerators of the target the source serves at most in so many domains that hold some of both.

    `tight`: both need room there.
    """
    served = min(target.amount, ratio * source.most)
    if not tight:
        return min(served, target.rooms.most(common))
    room = target.rooms.most(common)
    return max(0, min(served, room - source.least * common, ratio * (room - target.least * common), ratio * room // (1 + ratio)))
