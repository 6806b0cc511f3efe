"""Bit masks of local resources."""

from __future__ import annotations

from itertools import islice
from typing import Iterator


def bits(mask: int) -> Iterator[int]:
    """The local indices of a bit mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def solid_range(free: int, size: int) -> int:
    """The lowest solid range of so many free resources; 0 if there is none."""
    starts = free
    for offset in range(1, size):
        starts &= free >> offset
    return (starts & -starts) * ((1 << size) - 1)


def lowest(mask: int, count: int) -> int:
    """So many of its bits, the lowest; all of them if there are fewer, none if fewer than one are asked for."""
    return sum(1 << bit for bit in islice(bits(mask), max(0, count)))
