"""Device ids in the order in which they are written, kept as progressions, and two lists of them laid beside each other."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import Iterable, Iterator

from ...ranks import merge, without
from ...record import dataclass

# Device ids in the order in which they are written, kept as progressions: `list(range(0, 100000))` costs nothing.


@dataclass(frozen=True)
class Ids:
    """The ids of one role, in order. `parts` are progressions that are not empty; an id may occur several times."""

    parts: tuple[range, ...] = ()

    @staticmethod
    def of(parts: Iterable[range]) -> Ids:
        """The same ids in the fewest progressions that can be told at once: those that go on from each other as one."""
        found: list[range] = []
        for part in parts:
            if not part:
                continue
            longer = _joined(found[-1], part) if found else None
            if longer is not None:
                found[-1] = longer
            else:
                found.append(part)
        return Ids(tuple(found))

    @cached_property
    def count(self) -> int:
        """How many ids are written, one that is written twice counted twice."""
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[int]:
        for part in self.parts:
            yield from part

    @cached_property
    def highest(self) -> int:
        """The highest id; -1 if there is none."""
        return max((max(part[0], part[-1]) for part in self.parts), default=-1)

    @cached_property
    def lowest(self) -> int:
        """The lowest id; 0 if there is none."""
        return min((min(part[0], part[-1]) for part in self.parts), default=0)

    @cached_property
    def ranges(self) -> tuple[range, ...]:
        """The ids as a set: ascending, disjoint, non-adjacent ranges."""
        solid: list[range] = []
        for part in self.parts:
            if abs(part.step) == 1 or len(part) == 1:
                solid.append(range(min(part[0], part[-1]), max(part[0], part[-1]) + 1))
            else:
                solid += [range(each, each + 1) for each in part]
        return merge(solid)

    @cached_property
    def distinct(self) -> int:
        """How many different ids there are."""
        return sum(map(len, self.ranges))

    @property
    def solid(self) -> bool:
        """Are they, in whatever order, all ids between the lowest and the highest?"""
        return len(self.ranges) == 1

    @property
    def ascending(self) -> bool:
        """Does every id follow a lower one?"""
        steps = all(part.step > 0 or len(part) == 1 for part in self.parts)
        return steps and all(before[-1] < after[0] for before, after in zip(self.parts, self.parts[1:]))

    @cached_property
    def listed(self) -> list[int]:
        """The ids one by one; no text names more than `MAX_IDS`."""
        return list(self)

    def sliced(self, which: slice) -> Ids:
        """The ids at these positions, as Python slices a list."""
        return Ids.of(range(each, each + 1) for each in self.listed[which])


def _joined(one: range, other: range) -> range | None:
    """Both as one progression, if the other one goes on where the first one stops."""
    step = one.step if len(one) > 1 else other[0] - one[-1]
    if step and other[0] == one[-1] + step and (len(other) == 1 or other.step == step):
        return range(one[0], other[-1] + (1 if step > 0 else -1), step)
    return None


# Device ids as ROLL's users write them.

_SHORT = 2
"""So many ids in a row are written one by one."""


def text_of(ids: Ids) -> str:
    """`list(range(0,8))+list([12,14])`; it needs no quotes in YAML."""
    pieces = []
    for short, parts in groupby(ids.parts, key=lambda part: len(part) <= _SHORT):
        if short:
            pieces.append(f"list([{','.join(str(each) for part in parts for each in part)}])")
        else:
            pieces += [f"list({_range(part)})" for part in parts]
    return "+".join(pieces) or "list([])"


def range_text(ids: range) -> str:
    """`list(range(0,8))` for ids that go on from each other."""
    return text_of(Ids((ids,)))


def _range(part: range) -> str:
    stop = part[-1] + (1 if part.step > 0 else -1)
    return f"range({part[0]},{stop})" if part.step == 1 else f"range({part[0]},{stop},{part.step})"


# Two lists of device ids laid beside each other: which id each of the first meets in the second.


@dataclass(frozen=True, slots=True)
class Difference:
    """Ids that differ from those they meet: first at `position` of the first list, `count` in all."""

    position: int
    count: int


def difference(one: Ids, other: Ids, shift: int) -> Difference | None:
    """Where the id at a position of the first list is not the one at ``position + shift`` of the other; what meets none is left out."""
    start = max(-shift, 0)
    beside = enumerate(zip(one.listed[start:], other.listed[start + shift :]), start)
    differing = [position for position, (mine, theirs) in beside if mine != theirs]
    return Difference(differing[0], len(differing)) if differing else None


def common(one: Ids, other: Ids) -> tuple[range, ...]:
    """The ids that both hold, ascending."""
    return without(one.ranges, without(one.ranges, other.ranges))


def positions(ids: Ids, ranges: tuple[range, ...]) -> tuple[range, ...]:
    """At which positions the ids lie in one of these ranges, ascending."""
    wanted = {each for its in ranges for each in its}
    return Ids.of(range(at, at + 1) for at, each in enumerate(ids) if each in wanted).ranges
