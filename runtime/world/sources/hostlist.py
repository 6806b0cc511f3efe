"""Slurm's short form of host names: `gpu[001-003,007],login1`."""

from __future__ import annotations

import re
from itertools import product

from ....models.machines.shorthand import MAX_NODES

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


def expand(text: str) -> tuple[str, ...]:
    """Expand to host names, in order; leading zeros stay, several brackets per name are allowed.

    Raises ValueError with a message for the user.
    """
    hosts: list[str] = []
    for part in _parts(text):
        if len(hosts) + _size(part, text) > MAX_NODES:
            raise ValueError(f"`{text[:80]}` names more than {MAX_NODES:,} hosts")
        hosts += ("".join(pieces) for pieces in product(*(_texts(piece, text) for piece in part)))
    if not hosts:
        raise ValueError("it names no host")
    if len(set(hosts)) < len(hosts):
        raise ValueError(f"`{text[:80]}` names a host twice")
    return tuple(hosts)


def _parts(text: str) -> list[list[tuple[str, str]]]:
    """Split at commas outside of brackets into pieces.

    A piece is (inside of brackets, "") or ("", plain text).
    """
    parts: list[list[tuple[str, str]]] = [[]]
    position = 0
    while position < len(text):
        if text[position] in ", \n\t":
            parts.append([])
            position += 1
            continue
        match = _PIECE.match(text, position)
        if not match:
            raise ValueError(f"`{text[:80]}` is no list of hosts: there is a bracket without its other")
        parts[-1].append((match[1] or "", match[2] or ""))
        position = match.end()
    return [part for part in parts if part]


def _size(part: list[tuple[str, str]], text: str) -> int:
    size = 1
    for inside, plain in part:
        if not plain:
            size *= sum(last - first + 1 for first, last, _ in _ranges(inside, text))
    return size


def _texts(piece: tuple[str, str], text: str) -> list[str]:
    inside, plain = piece
    if plain:
        return [plain]
    return [f"{number:0{width}d}" for first, last, width in _ranges(inside, text) for number in range(first, last + 1)]


def _ranges(inside: str, text: str) -> list[tuple[int, int, int]]:
    """Return (first, last, digits) of every range in brackets."""
    ranges = []
    for part in inside.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise ValueError(f"`{text[:80]}` is no list of hosts: `[{inside[:40]}]` holds no ranges such as `001-003,007`")
        ranges.append((int(match[1]), int(match[2] or match[1]), len(match[1])))
    return ranges
