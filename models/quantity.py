"""Amounts as people write them, `8`, `8-32`, `70GiB`, and sets of allowed counts."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Iterable, Sequence

if TYPE_CHECKING:
    from fractions import Fraction

RANGE_PATTERN = r"^\s*0{0,8}[1-9][0-9]{0,8}\s*(-\s*[0-9]{1,9}\s*)?$"
"""Pattern of `read_range` for JSON Schema, which cannot refuse reversed ranges."""
MEMORY_PATTERN = r"^\s*[0-9]{1,9}(\.[0-9]{1,6})?\s*([TtGgMm]([Ii]?[Bb])?)?\s*$"
"""Pattern of `read_memory` for JSON Schema."""
RATE_PATTERN = r"^\s*[0-9]{1,9}(\.[0-9]{1,6})?\s*([TtGgMm]([Ii]?B)?)?\s*$"
"""Pattern of `read_rate` for JSON Schema; a small b would mean bits."""
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", re.ASCII)
_MEMORY = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*(TiB|GiB|MiB|TB|GB|MB|T|G|M)?\s*", re.IGNORECASE | re.ASCII)
_RATE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([TtGgMm](?:[Ii]?B)?)?\s*", re.ASCII)
_BYTES_OF = {"t": 2**40, "tib": 2**40, "g": 2**30, "gib": 2**30, "m": 2**20, "mib": 2**20, "tb": 10**12, "gb": 10**9, "mb": 10**6}


def read_range(text: str) -> tuple[int, int]:
    """Return (least, most) of `8` or `8-32`. Raises ValueError with a sentence."""
    match = _RANGE.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not a number such as `8` or a range such as `8-32`")
    lower = int(match[1])
    most = int(match[2]) if match[2] else lower
    if lower < 1:
        raise ValueError(f"`{text}` is less than 1")
    if most < lower:
        raise ValueError(f"`{text}` runs backwards")
    return lower, most


def write_range(amounts: tuple[int, int]) -> str:
    """Return `8` or `8-32` for (least, most)."""
    return str(amounts[0]) if amounts[0] == amounts[1] else f"{amounts[0]}-{amounts[1]}"


def _mib(number: str, unit: str | None) -> int | Fraction:
    size = _BYTES_OF[(unit or "GiB").lower()]
    if number.isdigit() and size % 2**20 == 0:
        return int(number) * (size // 2**20)
    from fractions import Fraction  # 3 ms to load

    return Fraction(number) * size / 2**20


def read_memory(text: str) -> int:
    """Return MiB of `70GiB` or `80GB`, rounded up; a bare number is GiB. Raises ValueError."""
    match = _MEMORY.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not an amount of memory such as `70GiB`")
    return math.ceil(_mib(match[1], match[2]))


def read_rate(text: str) -> int | Fraction:
    """Return exact MiB per second of `50GiB`; 0 is none. Raises ValueError."""
    match = _RATE.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not an amount a second such as `50GiB`; a small `b` would be bits")
    rate = _mib(match[1], match[2])
    if 0 < rate < 1:
        raise ValueError(f"`{text}` is less than 1 MiB a second")
    return int(rate) if rate.denominator == 1 else rate


def memory_text(mib: int) -> str:
    """Return `70GiB` for whole GiB, else `512MiB`, as in files; "" for 0."""
    return "" if not mib else f"{mib}MiB" if mib % 1024 else f"{mib // 1024}GiB"


def write_estimate(mib: int) -> str:
    """Return text like `62.4 GiB`, rounded up; MiB for less than a GiB."""
    return f"{-(-mib * 10 // 1024) / 10:.1f} GiB" if mib >= 1024 else f"{mib} MiB"


def write_memory(mib: int) -> str:
    """Return `70 GiB`, `93.14 GiB` rounded up, or `512 MiB` below 10 GiB."""
    if mib % 1024 and mib < 10 * 1024:
        return f"{mib} MiB"
    return f"{-(-mib * 100 // 1024) / 100:.2f}".rstrip("0").rstrip(".") + " GiB"


Counts = tuple[tuple[int, int], ...]
"""(least, most) of every range, ascending and disjoint."""


def holds(counts: Iterable[tuple[int, int]], count: int) -> bool:
    """Return True if a range contains the count."""
    return any(low <= count <= high for low, high in counts)


def intersection(first: Iterable[tuple[int, int]], second: Sequence[tuple[int, int]]) -> Counts:
    """Return the intersection of two sets of counts."""
    overlaps = ((max(low, second_low), min(high, second_high)) for low, high in first for second_low, second_high in second)
    return tuple((low, high) for low, high in overlaps if low <= high)


def unite_counts(several: Iterable[Counts]) -> Counts:
    """Return the union of several sets of counts."""
    union: list[tuple[int, int]] = []
    for low, high in sorted(interval for counts in several for interval in counts):
        if union and low <= union[-1][1]:
            union[-1] = (union[-1][0], max(high, union[-1][1]))
        else:
            union.append((low, high))
    return tuple(union)


def times(counts: Iterable[tuple[int, int]], factor: int) -> Counts:
    """Return the counts multiplied by a factor; other values inside a range stay included."""
    return tuple((low * factor, high * factor) for low, high in counts)


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
