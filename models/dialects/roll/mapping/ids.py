"""Device ids in the order in which they are written, kept as progressions: `list(range(0, 100000))` costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Iterable, Iterator

from ....ranks import merge


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
