"""Device ids in written order, stored as progressions, and comparisons of two lists."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import Iterable, Iterator, Sequence

from ...ranks import merge, without
from ...record import dataclass


@dataclass(frozen=True)
class Ids:
    """Ordered device ids of a role, as nonempty progressions; an id may occur several times."""

    parts: tuple[range, ...] = ()

    @staticmethod
    def of(parts: Iterable[range]) -> Ids:
        """Build ids from progressions, joining adjacent ones."""
        joined: list[range] = []
        for part in parts:
            longer = _joined(joined[-1], part) if joined and part else None
            if longer is not None:
                joined[-1] = longer
            elif part:
                joined.append(part)
        return Ids(tuple(joined))

    @staticmethod
    def of_numbers(numbers: Sequence[int]) -> Ids:
        """Build ids from single numbers."""
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
        """Number of ids, repeated ids included."""
        return sum(map(len, self.parts))

    @cached_property
    def highest(self) -> int:
        """Highest id; -1 without ids."""
        return max((end for part in self.parts for end in (part[0], part[-1])), default=-1)

    @cached_property
    def lowest(self) -> int:
        """Lowest id; 0 without ids."""
        return min((end for part in self.parts for end in (part[0], part[-1])), default=0)

    @cached_property
    def ranges(self) -> tuple[range, ...]:
        """Set of the ids as ascending, disjoint, non-adjacent ranges."""
        solid: list[range] = []
        for part in self.parts:
            if abs(part.step) == 1 or len(part) == 1:
                solid.append(range(min(part[0], part[-1]), max(part[0], part[-1]) + 1))
            else:
                solid += [range(id_, id_ + 1) for id_ in part]
        return merge(solid)

    @cached_property
    def distinct(self) -> int:
        """Number of different ids."""
        return sum(map(len, self.ranges))

    @property
    def solid(self) -> bool:
        """True if the ids, in any order, fill a single range."""
        return len(self.ranges) == 1

    @property
    def ascending(self) -> bool:
        """True if the ids are strictly ascending."""
        steps = all(part.step > 0 or len(part) == 1 for part in self.parts)
        return steps and all(before[-1] < after[0] for before, after in zip(self.parts, self.parts[1:]))

    @cached_property
    def listed(self) -> list[int]:
        """List of single ids; a text names at most `MAX_IDS`."""
        return list(self)

    def sliced(self, which: slice) -> Ids:
        """Return the ids at the positions of a slice."""
        if len(self.parts) == 1:
            return Ids.of([self.parts[0][which]])
        return Ids.of_numbers(self.listed[which])


def _joined(part: range, following: range) -> range | None:
    """Join two progressions if the second continues the first; else None."""
    step = part.step if len(part) > 1 else following[0] - part[-1]
    if step and following[0] == part[-1] + step and (len(following) == 1 or following.step == step):
        return range(part[0], following[-1] + (1 if step > 0 else -1), step)
    return None


def text_of(ids: Ids) -> str:
    """Format ids: `list(range(0,8))+list([12,14])`, without quotes in YAML."""
    pieces = []
    for short, parts in groupby(ids.parts, key=lambda part: len(part) <= 2):
        if short:
            pieces.append(f"list([{','.join(str(id_) for part in parts for id_ in part)}])")
        else:
            for part in parts:
                step = f",{part.step}" if part.step != 1 else ""
                pieces.append(f"list(range({part[0]},{part[-1] + (1 if part.step > 0 else -1)}{step}))")
    return "+".join(pieces) or "list([])"


def range_text(ids: range) -> str:
    """Format a progression: `list(range(0,8))`."""
    return text_of(Ids((ids,)))


def differing(ids: Ids, second: Ids, shift: int) -> list[int]:
    """Return the positions of ids that differ from the ids ``shift`` positions later in a second list."""
    start = max(-shift, 0)
    beside = enumerate(zip(ids.listed[start:], second.listed[start + shift :]), start)
    return [position for position, (id_, counterpart) in beside if id_ != counterpart]


def common(ids: Ids, second: Ids) -> tuple[range, ...]:
    """Return the ids in both lists, ascending."""
    return without(ids.ranges, without(ids.ranges, second.ranges))


def positions(ids: Ids, ranges: tuple[range, ...]) -> tuple[range, ...]:
    """Return the positions of the ids within some ranges, ascending."""
    wanted = {id_ for ids_range in ranges for id_ in ids_range}
    return Ids.of(range(at, at + 1) for at, id_ in enumerate(ids) if id_ in wanted).ranges
