"""A placement text that says what was probably meant: the text of a fix, which is offered only if it has no fault itself."""

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
"""Does a text that has no fault itself also keep the rules that are about nodes?"""


@dataclass(frozen=True, slots=True)
class _Piece:
    first: int
    last: int
    processes: int | None

    @property
    def resources(self) -> int:
        return self.last - self.first + 1


def mended(text: str, numbered: Numbered, numbering: Numbering | None = None, good: Good = lambda found: True) -> str | None:
    """The text without its faults; None if it cannot be told.

    Ranges are turned round, cut to what exists, put in order, made divisible; with a `numbering`, processes that lie on
    several nodes are moved to one, or made smaller. Marks that are often written for `-` and `,` are replaced. What comes out has no fault,
    is `good`, and is another text than the given one.
    """
    pieces = _pieces(text, numbered.size)
    for candidate in _candidates(pieces, numbered, numbering) if pieces else ():
        written = _write(candidate)
        if candidate and written != text:
            found = read_placement(written, numbered)
            if not found.faults and good(found):
                return written
    return None


def _candidates(pieces: list[_Piece], numbered: Numbered, numbering: Numbering | None) -> Iterator[list[_Piece]]:
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.first):
        cut = _cut(piece, kept[-1].last + 1 if kept else 0, numbered.size)
        if cut is not None:
            kept.append(cut)
    yield kept
    if numbering is not None:
        for start in dict.fromkeys((kept[0].first if kept else 0, 0)):
            yield list(joined(_on_single_nodes(kept, start, numbering), _both))
        yield from _in_more_processes(kept)


def _in_more_processes(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """The same resources, dealt out to more processes, as few as possible first."""
    sizes = [piece.resources // piece.processes if piece.processes else 1 for piece in pieces]
    for each in range(max(sizes, default=1) - 1, 0, -1):
        if all(size <= each or piece.resources % each == 0 for size, piece in zip(sizes, pieces)):
            yield [
                piece if size <= each else _Piece(piece.first, piece.last, piece.resources // each) for size, piece in zip(sizes, pieces)
            ]


def _pieces(text: str, size: int | None) -> list[_Piece] | None:
    text = _COMMA.sub(",", _DASH.sub("-", text)).strip("[](){} ")
    if size:
        text = _ALL.sub(f"0-{size - 1}", text)
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


def _on_single_nodes(pieces: list[_Piece], cursor: int, numbering: Numbering) -> list[_Piece]:
    """As many processes with as many resources each, from `cursor` on, each on one node; none where they do not fit."""
    found: list[_Piece] = []
    for piece in pieces:
        cursor = max(cursor, piece.first) if found else cursor
        each = 1 if piece.processes is None or numbering.kind == NODE else max(1, piece.resources // piece.processes)
        if each == 1:
            count = piece.processes if piece.processes is not None and numbering.kind == NODE else piece.resources
            count = min(count, piece.resources)
            if cursor + count > numbering.size:
                return []
            found.append(_Piece(cursor, cursor + count - 1, piece.processes))
            cursor += count
            continue
        left = piece.processes or 0
        for _, _, room in numbering.pieces(cursor, numbering.size) if cursor < numbering.size else ():
            processes = min(left, room // each)
            if processes:
                found.append(_Piece(cursor, cursor + processes * each - 1, processes))
                left -= processes
            if not left:
                cursor = found[-1].last + 1
                break
            cursor += room
        if left:
            return []
    return found


def _write(pieces: list[_Piece]) -> str:
    texts, process = [], 0
    for piece in pieces:
        text = _range(piece.first, piece.last)
        if piece.processes is not None:
            text += ":" + _range(process, process + piece.processes - 1)
        texts.append(text)
        process += piece.resources if piece.processes is None else piece.processes
    return ",".join(texts)


def _both(one: _Piece, other: _Piece) -> _Piece | None:
    """Neighbours that deal out alike, as one."""
    if other.first != one.last + 1 or _pattern(other) != _pattern(one):
        return None
    return _Piece(one.first, other.last, None if one.processes is None else one.processes + (other.processes or other.resources))


def _pattern(piece: _Piece) -> tuple[int, int]:
    """(resources of one process, processes of one resource), in lowest terms where they divide."""
    processes = piece.resources if piece.processes is None else piece.processes
    if processes >= piece.resources and processes % piece.resources == 0:
        return 1, processes // piece.resources
    return (piece.resources // processes, 1) if piece.resources % processes == 0 else (piece.resources, processes)


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
