"""Rank expressions: `0-7`, `0-3,8-11`, `all`, and placements `resource_ranks[:process_ranks]`.

Ranks stay ranges, so that `0-99999` costs nothing, and every part knows where in the text it stands.
Source of the grammar: RLinf, rlinf/scheduler/cluster/config.py (parse_rank_config) and
rlinf/scheduler/placement/placement.py (ComponentPlacement).
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Sequence

from .record import dataclass

MAX_TEXT = 65_536
CODES_BY_REASON = {"form": "PW103", "range": "PW102", "order": "PW109", "empty": "PW112"}
_INTEGER = re.compile(r"\s*\+?\d+(?:_\d+)*\s*", re.ASCII)


class RankError(ValueError):
    """Unusable rank expression.

    Attributes
    ----------
    reason : ``form`` (not the grammar), ``range`` (outside of existing ranks), ``order`` (runs
        backwards) or ``empty``.
    start, end : place of the offending characters.
    last : highest requested rank, if it is too high.
    """

    def __init__(
        self, reason: str, message: str, start: int, end: int, label: str = "", replacement: str | None = None, last: int | None = None
    ) -> None:
        super().__init__(message)
        self.reason, self.start, self.end, self.label, self.replacement, self.last = reason, start, end, label, replacement, last


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ascending, disjoint, non-adjacent ranges; `start` and `end` are the place of the text."""

    ranges: tuple[range, ...]
    start: int = 0
    end: int = 0

    def __iter__(self) -> Iterator[int]:
        for ranks in self.ranges:
            yield from ranks

    def __len__(self) -> int:
        return sum(map(len, self.ranges))

    @property
    def members(self) -> Sequence[int]:
        """Ranks; a range if solid."""
        return self.ranges[0] if len(self.ranges) == 1 else tuple(self)

    @property
    def first(self) -> int:
        """Lowest rank."""
        return self.ranges[0].start

    @property
    def last(self) -> int:
        """Highest rank."""
        return self.ranges[-1].stop - 1

    @property
    def solid(self) -> bool:
        """True if the ranks are a range without holes."""
        return len(self.ranges) == 1

    def __str__(self) -> str:
        return write_ranks(self.ranges)


def write_ranks(ranges: tuple[range, ...]) -> str:
    """Return `0-3,7` for the ranges 0-3 and 7."""
    return ",".join(str(ranks.start) if len(ranks) == 1 else f"{ranks.start}-{ranks.stop - 1}" for ranks in ranges)


def write_range(ranks: range) -> str:
    """Return `0-3` for a range of ranks."""
    return write_ranks((ranks,))


def merge(ranges: list[range]) -> tuple[range, ...]:
    """Return ranges in any order as ascending, disjoint, non-adjacent ranges."""
    union: list[range] = []
    for ranks in sorted((r for r in ranges if len(r)), key=lambda r: (r.start, r.stop)):
        if union and ranks.start <= union[-1].stop:
            union[-1] = range(union[-1].start, max(union[-1].stop, ranks.stop))
        else:
            union.append(ranks)
    return tuple(union)


def list_ranks(ranks: Iterable[int]) -> str:
    """Return `0-3,7` for ranks in any order."""
    return write_ranks(merge([range(rank, rank + 1) for rank in ranks]))


def without(ranges: Iterable[range], holes: Iterable[range]) -> tuple[range, ...]:
    """Return the part of ascending, disjoint ranges outside of others that ascend too."""
    remainder: list[range] = []
    rest = list(holes)
    position = 0
    for ranks in ranges:
        start = ranks.start
        while position < len(rest) and rest[position].stop <= start:
            position += 1
        inner = position
        while inner < len(rest) and rest[inner].start < ranks.stop:
            if start < rest[inner].start:
                remainder.append(range(start, rest[inner].start))
            start = max(start, rest[inner].stop)
            inner += 1
        if start < ranks.stop:
            remainder.append(range(start, ranks.stop))
    return tuple(remainder)


def parse_ranks(text: str, size: int | None, unit: str, offset: int = 0) -> Ranks:
    """Return the ranks of an expression.

    Parameters
    ----------
    size : ranks must be in 0..size-1 and `all` means all of them; None: unbounded, and `all` is
        refused.
    unit : noun for messages, such as "accelerator of `a800`".
    offset : added to every position.

    Empty items are skipped; an expression without items gives no ranks. Raises RankError.
    """
    end = offset + len(text)
    if len(text) > MAX_TEXT:
        raise RankError("form", f"a rank expression of {len(text):,} characters is longer than {MAX_TEXT:,}", offset, end)
    if text.strip().lower() == "all":
        if size is None:
            raise RankError("form", "`all` is not allowed here: write the ranks", offset, end, "no list to take all of")
        return Ranks((range(size),) if size else (), offset, end)
    ranges, position = [], offset
    for item in text.split(","):
        if item.strip():
            ranges.append(_item(item, position, size, unit))
        position += len(item) + 1
    return Ranks(merge(ranges), offset, end)


def _item(item: str, position: int, size: int | None, noun: str) -> range:
    start = position + len(item) - len(item.lstrip())
    end = position + len(item.rstrip())
    pieces = item.split("-")
    if len(pieces) > 2 or not all(_INTEGER.fullmatch(piece) and len(piece) <= 18 for piece in pieces):
        message = f"`{item.strip()[:40]}` is neither a rank such as `3` nor a range such as `0-7`"
        raise RankError("form", message, start, end, "not a rank")
    first, last = int(pieces[0]), int(pieces[-1])
    if first > last:
        raise RankError("order", f"the range {first}-{last} runs backwards", start, end, "runs backwards", f"{last}-{first}")
    if size is not None and last >= size:
        raise _build_error(first, last, size, noun, start, end)
    return range(first, last + 1)


def _build_error(first: int, last: int, size: int, noun: str, start: int, end: int) -> RankError:
    if size == 0:
        return RankError("range", f"there is no {noun}, but rank {first} is asked for", start, end, "none exists", None, last)
    exist = "only rank 0 exists" if size == 1 else f"ranks 0-{size - 1} exist"
    label = f"{last - first + 1} ranks asked, {size} exist" if first == 0 and last else exist
    replacement = str(first) if first == size - 1 else f"{first}-{size - 1}" if first < size else None
    return RankError("range", f"{noun} {last} is outside the cluster ({exist})", start, end, label, replacement, last)


@dataclass(frozen=True, slots=True)
class Segment:
    """`resources[:processes]` of a placement; `start` and `end` are the place of the text."""

    resources: Ranks
    processes: Ranks | None
    start: int
    end: int


def parse_segments(text: str, size: int | None, unit: str) -> list[Segment]:
    """Return the segments of a placement like `0-1:0-3,3-5`. Raises RankError."""
    segments, position = [], 0
    for piece in text.split(","):
        if piece.strip():
            segments.append(_segment(piece, position, size, unit))
        position += len(piece) + 1
    return segments


def _segment(piece: str, position: int, size: int | None, noun: str) -> Segment:
    start, end = position + len(piece) - len(piece.lstrip()), position + len(piece.rstrip())
    sides = piece.split(":")
    if len(sides) > 2:
        message = f"`{piece.strip()[:40]}` has {len(sides) - 1} colons, but a segment is `resources` or `resources:processes`"
        raise RankError("form", message, start, end, "more than one colon")
    resources = parse_ranks(sides[0], size, noun, position)
    if not resources.ranges:
        raise RankError(
            "empty", f"`{piece.strip()[:40]}` names no {noun}", start, end, "nothing before the colon" if len(sides) > 1 else ""
        )
    if len(sides) == 1:
        return Segment(resources, None, start, end)
    processes = parse_ranks(sides[1], None, "process", position + len(sides[0]) + 1)
    if not processes.ranges:
        raise RankError("empty", f"`{piece.strip()[:40]}` names no process after the colon", start, end, "nothing after the colon")
    return Segment(resources, processes, start, end)
