"""Patterns such as `*.sh` and `[a-z]?`, what they take away or replace, and braces that make several words.

Source: the Bash Reference Manual, 3.5.1 (Brace Expansion), 3.5.3 and 3.5.8.1 (Pattern Matching).
"""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import translate
from typing import Sequence

from .pieces import Piece, Text
from .syntax import Literal, Part

MAX_WORDS = 4_096
MAX_WORK = 2_000_000
_RANGE = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))\.\.(-?(?:0|[1-9][0-9]{0,17}))", re.ASCII)


class Slow(Exception):
    """It would take too long."""


class Pattern:
    """A pattern of letters, of which only the `active` ones (not quoted) have a meaning of their own."""

    def __init__(self, letters: str, active: Sequence[bool]) -> None:
        kept = (letter if on or letter not in "*?[" else f"[{letter}]" for letter, on in zip(letters, active))
        self._matcher = re.compile(translate("".join(kept).replace("[^", "[!")))
        self._cost = 1 + sum(on and letter == "*" for letter, on in zip(letters, active))

    def matches(self, text: str, tries: int = 1) -> bool:
        """True if it matches all of a text, which is one of so many tries. Raises Slow."""
        if len(text) * self._cost * tries > MAX_WORK:
            raise Slow
        return self._matcher.match(text) is not None


def without_prefix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X#pattern}` and `${X##pattern}`. Raises Slow."""
    plain = text.plain
    ends = range(len(plain), -1, -1) if longest else range(len(plain) + 1)
    return text.cut(next((end for end in ends if pattern.matches(plain[:end], len(plain))), 0))


def without_suffix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X%pattern}` and `${X%%pattern}`. Raises Slow."""
    plain = text.plain
    starts = range(len(plain) + 1) if longest else range(len(plain), -1, -1)
    return text.cut(0, next((at for at in starts if pattern.matches(plain[at:], len(plain))), len(plain)))


def replaced(text: Text, wanted: str, by: Text, every: bool) -> Text:
    """`${X/text/by}` and `${X//text/by}`. Raises Slow."""
    plain, pieces, position = text.plain, list[Piece](), 0
    places = [match.span() for match in re.finditer(re.escape(wanted), plain)][: None if every else 1] if wanted else []
    if len(places) > MAX_WORDS:
        raise Slow
    for start, end in places:
        pieces += [*text.cut(position, start).pieces, *by.pieces]
        position = end
    return Text((*pieces, *text.cut(position).pieces)) if places else text


def changed_case(text: Text, operator: str) -> Text:
    """`${X^}`, `${X^^}`, `${X,}` and `${X,,}`."""
    change = str.upper if operator[0] == "^" else str.lower
    pieces, limit = [], None if len(operator) == 2 else 1
    for piece in text.pieces:
        new = change(piece.text) if limit is None else change(piece.text[:limit]) + piece.text[limit:]
        limit = 0 if limit is not None and piece.text else limit
        same = new == piece.text or len(new) != len(piece.text)
        pieces.append(piece if same else replace(piece, text=new, exact=False))
    return Text(tuple(pieces))


def braced(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The words that the braces `{a,b}` and `{1..3}` of one word make. Raises Slow."""
    if not any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    letters: list[Part] = []
    for part in parts:
        if not isinstance(part, Literal) or part.quoted:
            letters.append(part)
            continue
        position = part.place[0]
        for piece in filter(None, re.split(r"([{},])", part.text)):
            letters.append(Literal(piece, (position, position + len(piece))))
            position += len(piece)
    return [tuple(word) for word in _expanded(letters)]


def _expanded(parts: list[Part], depth: int = 0) -> list[list[Part]]:
    if depth > 24:
        raise Slow
    for start in range(len(parts)):
        end, commas = _closing(parts, start) if _is(parts[start], "{") else (0, [])
        if not end:
            continue
        if commas:
            edges = [start, *commas, end]
            pairs = zip(edges, edges[1:])
            middles = [word for low, high in pairs for word in _expanded(parts[low + 1 : high], depth + 1)]
        elif counted := _counted(parts[start + 1 : end]):
            middles = [[Literal(text, parts[start + 1].place, exact=False)] for text in counted]
        else:
            continue
        rests = _expanded(parts[end + 1 :], depth + 1)
        if len(middles) * len(rests) > MAX_WORDS:
            raise Slow
        return [[*parts[:start], *middle, *rest] for middle in middles for rest in rests]
    return [parts]


def _closing(parts: list[Part], start: int) -> tuple[int, list[int]]:
    """Where the brace is closed, 0 if it is not, and the commas between."""
    depth, commas = 0, list[int]()
    for position in range(start, len(parts)):
        depth += _is(parts[position], "{") - _is(parts[position], "}")
        if not depth:
            return position, commas
        if _is(parts[position], ",") and depth == 1:
            commas.append(position)
    return 0, []


def _is(part: Part, letter: str) -> bool:
    return isinstance(part, Literal) and not part.quoted and part.text == letter


def _counted(inner: list[Part]) -> list[str]:
    """The words of `1..3`; none if it is none. Raises Slow."""
    match = _RANGE.fullmatch(inner[0].text) if len(inner) == 1 and isinstance(inner[0], Literal) and not inner[0].quoted else None
    if match is None:
        if any(isinstance(part, Literal) and ".." in part.text for part in inner):
            raise Slow
        return []
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= MAX_WORDS:
        raise Slow
    return [str(each) for each in (range(first, last + 1) if first <= last else range(first, last - 1, -1))]
