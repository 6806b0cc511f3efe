"""A placement text that says what was probably meant: the text of a fix, which is offered only if it has no fault itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .placement_text import Numbered, read_placement

_PIECE = re.compile(r"(\d{1,18})(?:\s*-\s*(\d{1,18}))?\s*(?::\s*(\d{1,18})(?:\s*-\s*(\d{1,18}))?)?", re.ASCII)

_ALL = re.compile(r"(?<=,)\s*all\b|^\s*all\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    first: int
    last: int
    processes: int | None

    @property
    def resources(self) -> int:
        return self.last - self.first + 1


def mended(text: str, numbered: Numbered) -> str | None:
    """The text without its faults: ranges turned round, cut to what exists, put in order, divisible; None if it cannot be told."""
    pieces = _pieces(_ALL.sub(f"0-{numbered.size - 1}", text) if numbered.size else text)
    if not pieces:
        return None
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.first):
        cut = _cut(piece, kept[-1].last + 1 if kept else 0, numbered.size)
        if cut is not None:
            kept.append(cut)
    candidate = _write(kept)
    good = bool(kept) and candidate != text and not read_placement(candidate, numbered).faults
    return candidate if good else None


def _pieces(text: str) -> list[_Piece] | None:
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PIECE.fullmatch(part)
        if not match:
            return None
        first, last = sorted((int(match[1]), int(match[2] or match[1])))
        processes = abs(int(match[4] or match[3]) - int(match[3])) + 1 if match[3] else None
        found.append(_Piece(first, last, processes))
    return found


def _cut(piece: _Piece, free: int, size: int | None) -> _Piece | None:
    first = max(piece.first, free)
    last = piece.last if size is None else min(piece.last, size - 1)
    if last < first:
        return None
    resources = last - first + 1
    if piece.processes is None:
        return _Piece(first, last, None)
    if piece.processes >= piece.resources:
        return _Piece(first, last, piece.processes // piece.resources * resources)
    each = piece.resources // piece.processes
    if resources < each:
        return _Piece(first, last, 1)
    processes = min(piece.processes, resources // each)
    return _Piece(first, first + processes * each - 1, processes)


def _write(pieces: list[_Piece]) -> str:
    texts, process = [], 0
    for piece in pieces:
        text = _range(piece.first, piece.last)
        if piece.processes is not None:
            text += ":" + _range(process, process + piece.processes - 1)
        texts.append(text)
        process += piece.resources if piece.processes is None else piece.processes
    return ",".join(texts)


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
