"""Device ids in written order, and comparisons of two lists."""

from __future__ import annotations

from functools import cached_property
from itertools import chain, groupby
from typing import Iterable

from ...ranks import merge, without


class Ids(tuple[int, ...]):
    """Ordered device ids of a role; an id may occur several times."""

    @staticmethod
    def join(*parts: Iterable[int]) -> Ids:
        """Build ids from parts."""
        return Ids(chain(*parts))

    @cached_property
    def highest(self) -> int:
        """Highest id; -1 without ids."""
        return max(self, default=-1)

    @cached_property
    def lowest(self) -> int:
        """Lowest id; 0 without ids."""
        return min(self, default=0)

    @cached_property
    def parts(self) -> tuple[range, ...]:
        """Ids as arithmetic progressions, each as long as possible."""
        numbers, parts, start = self, list[range](), 0
        while start < len(numbers):
            end, step = start + 1, numbers[start + 1] - numbers[start] if start + 1 < len(numbers) else 1
            while step and end < len(numbers) and numbers[end] - numbers[end - 1] == step:
                end += 1
            parts.append(range(numbers[start], numbers[end - 1] + (1 if step >= 0 else -1), step or 1))
            start = end
        return tuple(parts)

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
        return all(before < after for before, after in zip(self, self[1:]))


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
    return text_of(Ids.join(ids))


def differing(ids: Ids, second: Ids, shift: int) -> list[int]:
    """Return the positions of ids unlike the ids ``shift`` positions later in a second list."""
    start = max(-shift, 0)
    pairs = enumerate(zip(ids[start:], second[start + shift :]), start)
    return [position for position, (id_, counterpart) in pairs if id_ != counterpart]


def common(ids: Ids, second: Ids) -> tuple[range, ...]:
    """Return the ids in both lists, ascending."""
    return without(ids.ranges, without(ids.ranges, second.ranges))


def positions(ids: Ids, ranges: tuple[range, ...]) -> tuple[range, ...]:
    """Return the positions of the ids within some ranges, ascending."""
    id_set = {id_ for ids_range in ranges for id_ in ids_range}
    return Ids(position for position, id_ in enumerate(ids) if id_ in id_set).ranges
