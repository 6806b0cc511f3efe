"""Two lists of device ids laid beside each other: which id each of the first meets in the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ....ranks import merge, without
from ..mapping.ids import Ids


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
