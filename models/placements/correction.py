"""Corrected placement text for fixes; offered only if free of faults."""

from __future__ import annotations

import re
from typing import Callable, Iterator

from ..machines.node_group import NODE, Numbering
from ..record import dataclass
from .placement_text import Numbered, PlacementText, read_placement
from .runs_text import joined

_PIECE = re.compile(r"(\d{1,18})(?:\s*-\s*(\d{1,18}))?\s*(?::\s*(?:(\d{1,18})(?:\s*-\s*(\d{1,18}))?)?)?", re.ASCII)
_ALL = re.compile(r"(?<![^,])\s*all(?=\s*(?:[,:]|$))", re.IGNORECASE)
_DASH = re.compile(r"(?<=\d)(?:\s*(?:\.\.\.?|[\u2010-\u2015\u2212~])\s*|\s+to\s+|--)(?=\d)")
_COMMA = re.compile(r"\s*[;\uff0c\u3001]\s*|(?<=\d)\s+(?=\d)")

Good = Callable[[PlacementText], bool]
"""Predicate on a faultless text: True if the text keeps the rules about nodes."""


@dataclass(frozen=True, slots=True)
class _Piece:
    first: int
    last: int
    processes: int | None

    @property
    def resources(self) -> int:
        return self.last - self.first + 1


def corrected(text: str, numbered: Numbered, numbering: Numbering | None = None, good: Good = lambda placement: True) -> str | None:
    """Return the corrected text; None if no correction is known.

    Ranges are turned round, cut to existing ranks, put in order, made divisible; with a
    `numbering`, processes on several nodes are moved to one node, or made smaller. Marks often
    written for `-` and `,` are replaced. The result has no fault, is `good`, and differs from
    `text`.
    """
    pieces = _pieces(text, numbered.size)
    for candidate in _candidates(pieces, numbered, numbering) if pieces else ():
        written = _write(candidate)
        if candidate and written != text:
            placement = read_placement(written, numbered)
            if not placement.faults and good(placement):
                return written
    return None


def _candidates(pieces: list[_Piece], numbered: Numbered, numbering: Numbering | None) -> Iterator[list[_Piece]]:
    valid: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.first):
        cut = _cut(piece, valid[-1].last + 1 if valid else 0, numbered.size)
        if cut is not None:
            valid.append(cut)
    yield valid
    if numbering is not None:
        for start in dict.fromkeys((valid[0].first if valid else 0, 0)):
            yield list(joined(_on_single_nodes(valid, start, numbering), _both))
        yield from _with_more_processes(valid)


def _with_more_processes(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the pieces with more processes for the same resources, as few as possible first."""
    sizes = [piece.resources // piece.processes if piece.processes else 1 for piece in pieces]
    for per_process in range(max(sizes, default=1) - 1, 0, -1):
        if all(size <= per_process or piece.resources % per_process == 0 for size, piece in zip(sizes, pieces)):
            yield [
                piece if size <= per_process else _Piece(piece.first, piece.last, piece.resources // per_process)
                for size, piece in zip(sizes, pieces)
            ]


def _pieces(text: str, size: int | None) -> list[_Piece] | None:
    text = _COMMA.sub(",", _DASH.sub("-", text)).strip("[](){} ")
    if size:
        text = _ALL.sub(f"0-{size - 1}", text)
    pieces = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PIECE.fullmatch(part)
        if not match:
            return None
        first, last = sorted((int(match[1]), int(match[2] or match[1])))
        processes = abs(int(match[4] or match[3]) - int(match[3])) + 1 if match[3] else None
        pieces.append(_Piece(first, last, processes))
    return pieces


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
    per_process = piece.resources // piece.processes
    if resources < per_process:
        return _Piece(first, last, 1)
    processes = min(piece.processes, resources // per_process)
    return _Piece(first, first + processes * per_process - 1, processes)


def _on_single_nodes(pieces: list[_Piece], cursor: int, numbering: Numbering) -> list[_Piece]:
    """Return the pieces from `cursor` on with node-local processes; empty if impossible."""
    placed: list[_Piece] = []
    for piece in pieces:
        cursor = max(cursor, piece.first) if placed else cursor
        per_process = 1 if piece.processes is None or numbering.kind == NODE else max(1, piece.resources // piece.processes)
        if per_process == 1:
            count = piece.processes if piece.processes is not None and numbering.kind == NODE else piece.resources
            count = min(count, piece.resources)
            if cursor + count > numbering.size:
                return []
            placed.append(_Piece(cursor, cursor + count - 1, piece.processes))
            cursor += count
            continue
        left = piece.processes or 0
        for _, _, free in numbering.pieces(cursor, numbering.size) if cursor < numbering.size else ():
            processes = min(left, free // per_process)
            if processes:
                placed.append(_Piece(cursor, cursor + processes * per_process - 1, processes))
                left -= processes
            if not left:
                cursor = placed[-1].last + 1
                break
            cursor += free
        if left:
            return []
    return placed


def _write(pieces: list[_Piece]) -> str:
    texts, process = [], 0
    for piece in pieces:
        text = _range(piece.first, piece.last)
        if piece.processes is not None:
            text += ":" + _range(process, process + piece.processes - 1)
        texts.append(text)
        process += piece.resources if piece.processes is None else piece.processes
    return ",".join(texts)


def _both(left: _Piece, right: _Piece) -> _Piece | None:
    """Return neighbours with the same pattern as a single piece, else None."""
    if right.first != left.last + 1 or _pattern(right) != _pattern(left):
        return None
    return _Piece(left.first, right.last, None if left.processes is None else left.processes + (right.processes or right.resources))


def _pattern(piece: _Piece) -> tuple[int, int]:
    """Return (resources per process, processes per resource), in lowest terms if divisible."""
    processes = piece.resources if piece.processes is None else piece.processes
    if processes >= piece.resources and processes % piece.resources == 0:
        return 1, processes // piece.resources
    return (piece.resources // processes, 1) if piece.resources % processes == 0 else (piece.resources, processes)


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
