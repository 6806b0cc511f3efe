"""Allowed counts, like 2, 4 or 8-16: disjoint ranges in ascending order."""

from __future__ import annotations

from typing import Iterable, Sequence

from .quantity import write_range

Counts = tuple[tuple[int, int], ...]
"""(least, most) of every range, ascending and disjoint."""


def holds(counts: Iterable[tuple[int, int]], count: int) -> bool:
    """Return True if a range contains the count."""
    return any(low <= count <= high for low, high in counts)


def intersection(first: Iterable[tuple[int, int]], second: Sequence[tuple[int, int]]) -> Counts:
    """Return the intersection of two sets of counts."""
    overlaps = ((max(low, second_low), min(high, second_high)) for low, high in first for second_low, second_high in second)
    return tuple((low, high) for low, high in overlaps if low <= high)


def in_any(several: Iterable[Counts]) -> Counts:
    """Return the union of several sets of counts."""
    union: list[tuple[int, int]] = []
    for low, high in sorted(interval for counts in several for interval in counts):
        if union and low <= union[-1][1]:
            union[-1] = (union[-1][0], max(high, union[-1][1]))
        else:
            union.append((low, high))
    return tuple(union)


def times(counts: Iterable[tuple[int, int]], factor: int) -> Counts:
    """Return the counts multiplied by a factor, as from processes to accelerators.

    Values inside a scaled range that are not multiples of the factor stay included.
    """
    return tuple((low * factor, high * factor) for low, high in counts)


def less(counts: Iterable[tuple[int, int]], taken: int) -> Counts:
    """Return the counts minus `taken`, without ranges that become empty."""
    return tuple((max(low - taken, 1), high - taken) for low, high in counts if high > taken)


def add(counts: Sequence[tuple[int, int]], count: int) -> Counts:
    """Add a count; no-op if counts are unspecified."""
    return tuple(counts) if not counts or holds(counts, count) else tuple(sorted((*counts, (count, count))))


def is_one_range(counts: Sequence[tuple[int, int]]) -> bool:
    """Return True if the counts have no gap between the least and the most."""
    return all(high + 1 == low for (_, high), (low, _) in zip(counts, counts[1:]))


def write_counts(counts: Sequence[tuple[int, int]]) -> str:
    """Return text like `2, 4 or 8-16`."""
    *first_ranges, last = map(write_range, counts)
    return f"{', '.join(first_ranges)} or {last}" if first_ranges else last


def nearest(counts: Iterable[tuple[int, int]], count: int) -> int:
    """Return the allowed count nearest to `count`; the larger of two equally near."""
    candidates = (min(max(count, low), high) for low, high in counts)
    return min(candidates, key=lambda candidate: (abs(candidate - count), -candidate))
