"""Device ids in the order in which they are written, kept as progressions, and two lists of them laid beside each other."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import Iterable, Iterator, Sequence

from ...ranks import merge, without
from ...record import dataclass


@dataclass(frozen=True)
class Ids:
    """The ids of one role, in order. `parts` are progressions that are not empty; an id may occur several times."""

    parts: tuple[range, ...] = ()

    @staticmethod
    def of(parts: Iterable[range]) -> Ids:
        """The same ids, those that go on from each other as one progression."""
        found: list[range] = []
        for part in parts:
            longer = _joined(found[-1], part) if found and part else None
            if longer is not None:
                found[-1] = longer
            elif part:
                found.append(part)
        return Ids(tuple(found))

    @staticmethod
    def of_numbers(numbers: Sequence[int]) -> Ids:
        """The same numbers, as progressions."""
        parts, start = list[range](), 0
        while start < len(numbers):
            end, step = start + 1, numbers[start + 1] - numbers[start] if start + 1 < len(numbers) else 1
            while step and end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            parts.append(range(numbers[start], numbers[end - 1] + (1 if step >= 0 else -1), step or 1))
            start = end
        return Ids(tuple(parts))

    def __iter__(self) -> Iterator[int]:
        for part in self.parts:
            yield from part

    @cached_property
    def count(self) -> int:
        """Number of ids, one that is written twice counted twice."""
        return sum(map(len, self.parts))

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
        """Number of different ids."""
        return sum(map(len, self.ranges))

    @property
    def solid(self) -> bool:
        """True if they are, in whatever order, all ids between the lowest and the highest."""
        return len(self.ranges) == 1

    @property
    def ascending(self) -> bool:
        """True if every id follows a lower one."""
        steps = all(part.step > 0 or len(part) == 1 for part in self.parts)
        return steps and all(before[-1] < after[0] for before, after in zip(self.parts, self.parts[1:]))

    @cached_property
    def listed(self) -> list[int]:
        """The ids one by one; no text names more than `MAX_IDS`."""
        return list(self)

    def sliced(self, which: slice) -> Ids:
        """The ids at these positions, as Python slices a list."""
        if len(self.parts) == 1:
            return Ids.of([self.parts[0][which]])
        return Ids.of_numbers(self.listed[which])


def _joined(part: range, other: range) -> range | None:
    """Both as one progression, if the other one goes on where the first one stops."""
    step = part.step if len(part) > 1 else other[0] - part[-1]
    if step and other[0] == part[-1] + step and (len(other) == 1 or other.step == step):
        return range(part[0], other[-1] + (1 if step > 0 else -1), step)
    return None


def text_of(ids: Ids) -> str:
    """`list(range(0,8))+list([12,14])`; it needs no quotes in YAML."""
    pieces = []
    for short, parts in groupby(ids.parts, key=lambda part: len(part) <= 2):
        if short:
            pieces.append(f"list([{','.join(str(each) for part in parts for each in part)}])")
        else:
            pieces += [_of_range(part) for part in parts]
    return "+".join(pieces) or "list([])"


def range_text(ids: range) -> str:
    """`list(range(0,8))` for ids that go on from each other."""
    return text_of(Ids((ids,)))


def _of_range(part: range) -> str:
    step = f",{part.step}" if part.step != 1 else ""
    return f"list(range({part[0]},{part[-1] + (1 if part.step > 0 else -1)}{step}))"


@dataclass(frozen=True, slots=True)
class Difference:
    """Ids that differ from those they meet: first at `position` of the first list, `count` in all."""

    position: int
    count: int


def difference(ids: Ids, other: Ids, shift: int) -> Difference | None:
    """Where the id at a position of the first list is not the one at ``position + shift`` of the other; what meets none is left out."""
    start = max(-shift, 0)
    beside = enumerate(zip(ids.listed[start:], other.listed[start + shift :]), start)
    differing = [position for position, (mine, theirs) in beside if mine != theirs]
    return Difference(differing[0], len(differing)) if differing else None


def common(ids: Ids, other: Ids) -> tuple[range, ...]:
    """The ids that both hold, ascending."""
    return without(ids.ranges, without(ids.ranges, other.ranges))


def positions(ids: Ids, ranges: tuple[range, ...]) -> tuple[range, ...]:
    """At which positions the ids lie in one of these ranges, ascending."""
    wanted = {each for its in ranges for each in its}
    return Ids.of(range(at, at + 1) for at, each in enumerate(ids) if each in wanted).ranges
