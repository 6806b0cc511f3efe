"""Several counts to choose from, such as 2, 4 or 8-16: ranges in ascending order that have no count in common."""

from __future__ import annotations

from typing import Iterable, Sequence

from .quantity import write_range

Counts = tuple[tuple[int, int], ...]
"""(least, most) of each range, ascending; no count is in two of them."""


def holds(counts: Iterable[tuple[int, int]], count: int) -> bool:
    """Is a count one of them?"""
    return any(low <= count <= high for low, high in counts)


def in_both(one: Iterable[tuple[int, int]], other: Sequence[tuple[int, int]]) -> Counts:
    """The counts that are in both."""
    met = ((max(low, its), min(high, their)) for low, high in one for its, their in other)
    return tuple((low, high) for low, high in met if low <= high)


def in_any(several: Iterable[Counts]) -> Counts:
    """The counts that are in one of them at least."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(each for counts in several for each in counts):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def times(counts: Iterable[tuple[int, int]], factor: int) -> Counts:
    """As many times each: processes as their accelerators. Of a range all between are, too, which no whole processes have."""
    return tuple((low * factor, high * factor) for low, high in counts)


def less(counts: Iterable[tuple[int, int]], taken: int) -> Counts:
    """What is left of each where so many are taken, but for those of which nothing is."""
    return tuple((max(low - taken, 1), high - taken) for low, high in counts if high > taken)


def with_one(counts: Sequence[tuple[int, int]], count: int) -> Counts:
    """The same with one more, where any are said."""
    return tuple(counts) if not counts or holds(counts, count) else tuple(sorted((*counts, (count, count))))


def is_one_range(counts: Sequence[tuple[int, int]]) -> bool:
    """Is no count between the least and the most left out?"""
    return all(high + 1 == low for (_, high), (low, _) in zip(counts, counts[1:]))


def write_counts(counts: Sequence[tuple[int, int]]) -> str:
    """`2, 4 or 8-16`."""
    *others, last = map(write_range, counts)
    return f"{', '.join(others)} or {last}" if others else last


def nearest(counts: Iterable[tuple[int, int]], count: int) -> int:
    """The one of them that is nearest to a count, of two as near the larger."""
    found = (min(max(count, low), high) for low, high in counts)
    return min(found, key=lambda each: (abs(each - count), -each))
