"""Device ids in the order in which they are written, kept as progressions, and two lists of them laid beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Iterable, Iterator

from ...ranks import merge, without

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

    def at(self, position: int) -> int:
        """The id at a position, from the end if it is negative. Raises IndexError."""
        position += self.count if position < 0 else 0
        for part in self.parts:
            if 0 <= position < len(part):
                return part[position]
            position -= len(part)
        raise IndexError(position)

    def sliced(self, which: slice) -> Ids:
        """The ids at these positions, as Python slices a list."""
        positions = range(self.count)[which]
        if abs(positions.step) > 1 and len(self.parts) > 1:
            return Ids.of(range(each, each + 1) for each in map(self.at, positions))
        forward = positions if positions.step > 0 else positions[::-1]
        found, start = list[range](), 0
        for part in self.parts:
            low, high = (min(max(each - start, 0), len(part)) for each in (forward.start, forward.stop))
            found.append(part[low : high : forward.step])
            start += len(part)
        return Ids.of(found if positions.step > 0 else [part[::-1] for part in reversed(found)])

    def first(self, count: int) -> tuple[int, ...]:
        """The first ids."""
        return tuple(islice(self, count))


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
    """Where the id at a position of the first list is not the one at ``position + shift`` of the other; what meets none is left out.

    Cost grows with the progressions of both, not with the ids.
    """
    first, count = None, 0
    for position, mine, theirs in _beside(one.parts, other.parts, shift):
        if mine[0] == theirs[0] and mine[-1] == theirs[-1]:  # progressions of one length, so the same
            continue
        if first is None:
            first = position + (mine[0] == theirs[0])
        count += len(mine) - _met(mine, theirs)
    return None if first is None else Difference(first, count)


def common(one: Ids, other: Ids) -> tuple[range, ...]:
    """The ids that both hold, ascending."""
    return without(one.ranges, without(one.ranges, other.ranges))


def part(ids: Ids, start: int, stop: int) -> Ids:
    """The ids at the positions `start` to `stop`."""
    found, position = [], 0
    for each in ids.parts:
        if cut := each[max(start - position, 0) : max(stop - position, 0)]:
            found.append(cut)
        position += len(each)
    return Ids(tuple(found))


def positions(ids: Ids, ranges: tuple[range, ...]) -> tuple[range, ...]:
    """At which positions the ids lie in one of these ranges, ascending."""
    found, position = [], 0
    for each in ids.parts:
        step, first = (each.step, each[0]) if each.step > 0 else (-each.step, each[-1])
        for its in ranges:
            low, high = max(-((first - its.start) // step), 0), min((its.stop - 1 - first) // step, len(each) - 1)
            if low <= high:
                low, high = (low, high) if each.step > 0 else (len(each) - 1 - high, len(each) - 1 - low)
                found.append(range(position + low, position + high + 1))
        position += len(each)
    return merge(found)


def at(ids: Ids, position: int) -> int:
    """The id at a position."""
    return part(ids, position, position + 1).parts[0][0]


def _met(mine: range, theirs: range) -> int:
    """At how many places two progressions of one length that differ are equal: at one at most."""
    pace, gap = theirs.step - mine.step, mine[0] - theirs[0]
    return int(len(mine) > 1 and pace != 0 and gap % pace == 0 and 0 <= gap // pace < len(mine))


def _beside(one: tuple[range, ...], other: tuple[range, ...], shift: int) -> Iterator[tuple[int, range, range]]:
    """(position, ids of the first list, those that they meet), cut so that both are progressions."""
    placed, end = [], -shift
    for piece in other:
        placed.append((end, piece))
        end += len(piece)
    position, current = 0, 0
    for piece in one:
        stop = position + len(piece)
        while current < len(placed) and placed[current][0] + len(placed[current][1]) <= position:
            current += 1
        which = current
        while which < len(placed) and placed[which][0] < stop:
            start, its = placed[which]
            low, high = max(position, start), min(stop, start + len(its))
            yield low, piece[low - position : high - position], its[low - start : high - start]
            which += 1
        position = stop
