"""Corrected placement text for fixes; offered only if free of faults."""

from __future__ import annotations

import re
from typing import Callable, Iterator

from ..machines.node_group import NODE, Numbering
from .placement_text import NumberedResources, PlacementText, RankRange, join, read_placement, unite, write_placement

_PIECE = re.compile(r"(\d{1,18})(?:\s*-\s*(\d{1,18}))?\s*(?::\s*(?:(\d{1,18})(?:\s*-\s*(\d{1,18}))?)?)?", re.ASCII)
_ALL = re.compile(r"(?<![^,])\s*all(?=\s*(?:[,:]|$))", re.IGNORECASE)
_DASH = re.compile(r"(?<=\d)(?:\s*(?:\.\.\.?|[\u2010-\u2015\u2212~])\s*|\s+to\s+|--)(?=\d)")
_COMMA = re.compile(r"\s*[;\uff0c\u3001]\s*|(?<=\d)\s+(?=\d)")

Good = Callable[[PlacementText], bool]
"""Predicate on a faultless text: True if the text keeps the rules about nodes."""


def correct_text(
    text: str, resources: NumberedResources, numbering: Numbering | None = None, good: Good = lambda placement: True
) -> str | None:
    """Return the corrected text; None if no correction is known.

    Ranges are turned round, cut to existing ranks, put in order, made divisible; with a
    `numbering`, processes on several nodes are moved to one node, or made smaller. Marks often
    written for `-` and `,` are replaced. The result has no fault, is `good`, and differs from
    `text`.
    """
    pieces = _pieces(text, resources.size)
    for candidate in _candidates(pieces, resources, numbering) if pieces else ():
        corrected_text = write_placement(candidate)
        if candidate and corrected_text != text:
            placement = read_placement(corrected_text, resources)
            if not placement.faults and good(placement):
                return corrected_text
    return None


def _candidates(pieces: list[RankRange], resources: NumberedResources, numbering: Numbering | None) -> Iterator[list[RankRange]]:
    valid: list[RankRange] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        cut = _cut(piece, valid[-1].stop if valid else 0, resources.size)
        if cut is not None:
            valid.append(cut)
    yield valid
    if numbering is None:
        return
    for start in dict.fromkeys((valid[0].start if valid else 0, 0)):
        yield list(join(_split_by_node(valid, start, numbering), unite))
    # More processes for the same resources, as few as possible first.
    sizes = [piece.resources // piece.processes for piece in valid]
    for per_process in range(max(sizes, default=1) - 1, 0, -1):
        if all(size <= per_process or piece.resources % per_process == 0 for size, piece in zip(sizes, valid)):
            counts = (piece.processes if size <= per_process else piece.resources // per_process for size, piece in zip(sizes, valid))
            yield [RankRange(piece.start, piece.stop, count) for piece, count in zip(valid, counts)]


def _pieces(text: str, size: int | None) -> list[RankRange] | None:
    text = _COMMA.sub(",", _DASH.sub("-", text)).strip("[](){} ")
    if size:
        text = _ALL.sub(f"0-{size - 1}", text)
    pieces = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PIECE.fullmatch(part)
        if not match:
            return None
        first, last = sorted((int(match[1]), int(match[2] or match[1])))
        processes = abs(int(match[4] or match[3]) - int(match[3])) + 1 if match[3] else last - first + 1
        pieces.append(RankRange(first, last + 1, processes))
    return pieces


def _cut(piece: RankRange, free: int, size: int | None) -> RankRange | None:
    """Return the existing part of a piece from rank `free` on; None if empty."""
    first, stop = max(piece.start, free), piece.stop if size is None else min(piece.stop, size)
    if stop <= first:
        return None
    resources = stop - first
    if piece.processes >= piece.resources:
        return RankRange(first, stop, piece.processes // piece.resources * resources)
    per_process = piece.resources // piece.processes
    if resources < per_process:
        return RankRange(first, stop, 1)
    processes = min(piece.processes, resources // per_process)
    return RankRange(first, first + processes * per_process, processes)


def _split_by_node(pieces: list[RankRange], cursor: int, numbering: Numbering) -> list[RankRange]:
    """Return the pieces from `cursor` on with node-local processes; empty if impossible."""
    local_pieces: list[RankRange] = []
    for piece in pieces:
        cursor = max(cursor, piece.start) if local_pieces else cursor
        per_process = 1 if numbering.kind == NODE else max(1, piece.resources // piece.processes)
        if per_process == 1:
            count = min(piece.processes, piece.resources) if numbering.kind == NODE else piece.resources
            if cursor + count > numbering.size:
                return []
            local_pieces.append(RankRange(cursor, cursor + count, piece.processes))
            cursor += count
            continue
        remaining = piece.processes
        for _, _, free in numbering.pieces(cursor, numbering.size) if cursor < numbering.size else ():
            processes = min(remaining, free // per_process)
            if processes:
                local_pieces.append(RankRange(cursor, cursor + processes * per_process, processes))
                remaining -= processes
            if not remaining:
                cursor = local_pieces[-1].stop
                break
            cursor += free
        if remaining:
            return []
    return local_pieces
