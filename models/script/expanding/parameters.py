"""What stands after the name in `${NAME...}`: defaults, patterns, replacements, cases, parts.

Source: the Bash Reference Manual, 3.5.3 (Shell Parameter Expansion).
"""

from __future__ import annotations

from typing import Callable

from ..holding.value import Piece, Text
from .patterns import Pattern, TooMuch

MAX_REPLACED = 4_096


def without_prefix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X#pattern}` and `${X##pattern}`."""
    ends = pattern.ends(text.plain, 0)
    return text.cut(max(ends) if longest else min(ends)) if ends else text


def without_suffix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X%pattern}` and `${X%%pattern}`."""
    plain = text.plain
    order = range(len(plain) + 1) if longest else range(len(plain), -1, -1)
    for start in order:
        if len(plain) in pattern.ends(plain, start):
            return text.cut(0, start)
    return text


def replaced(text: Text, pattern: Pattern, by: Text, operator: str) -> Text:
    """`${X/pattern/by}` and its kin; the longest match at the leftmost place. Raises TooMuch."""
    plain, pieces, position, done = text.plain, list[Piece](), 0, 0
    if operator == "/%":
        starts = [start for start in range(len(plain) + 1) if len(plain) in pattern.ends(plain, start)]
        return Text((*text.cut(0, starts[0]).pieces, *by.pieces)) if starts else text
    start = 0
    while start <= len(plain):
        if done > MAX_REPLACED:
            raise TooMuch
        ends = pattern.ends(plain, start)
        end = max(ends) if ends else -1
        if end > start or (end == start and (not plain or operator == "/#")):
            pieces += [*text.cut(position, start).pieces, *by.pieces]
            position, start, done = end, max(end, start + 1), done + 1
            if operator != "//":
                break
        elif operator == "/#":
            break
        else:
            start += 1
    return Text((*pieces, *text.cut(position).pieces)) if done else text


def in_case(text: Text, operator: str, matches: Callable[[str], bool]) -> Text:
    """`${X^}`, `${X^^}`, `${X,}` and `${X,,}`."""
    change = str.upper if operator[0] == "^" else str.lower
    pieces, first = [], True
    for piece in text.pieces:
        letters = []
        for letter in piece.text:
            changes = (first or len(operator) == 2) and matches(letter)
            changed = change(letter)
            letters.append(changed if changes and len(changed) == 1 else letter)
            first = False
        new = "".join(letters)
        pieces.append(
            piece if new == piece.text else Piece(new, piece.frames, False, piece.unknown, piece.unset, piece.assumed, piece.secret)
        )
    return Text(tuple(pieces))


def part(text: Text, offset: int, length: int | None) -> Text | None:
    """`${X:offset:length}`; None where bash refuses the length."""
    size = len(text.plain)
    start = offset if offset >= 0 else size + offset
    if start < 0 or start > size:
        return Text()
    end = size if length is None else start + length if length >= 0 else size + length
    return None if end < start else text.cut(start, min(end, size))


def items(texts: list[Text], offset: int, length: int | None) -> list[Text] | None:
    """`${X[@]:offset:length}` of an array."""
    start = offset if offset >= 0 else len(texts) + offset
    if start < 0 or (length is not None and length < 0):
        return [] if start < 0 else None
    return texts[start:] if length is None else texts[start : start + length]
