"""Bit masks of local resources."""

from __future__ import annotations

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
