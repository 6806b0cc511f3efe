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
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": " \t-\r"}
_RANGE = re.compile(
    r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})(?:\.\.(-?[0-9]{1,18}))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?[0-9]{1,18}))?",
    re.ASCII,
)


class Slow(Exception):
    """It would take too long."""


class Pattern:
    """A pattern of letters, of which only the `active` ones (not quoted) have a meaning of their own."""

    def __init__(self, letters: str, active: Sequence[bool]) -> None:
        written, self.stars, position = "", 0, 0
        while position < len(letters):
            letter = letters[position]
            if letter == "[" and active[position] and (end := _set_end(letters, position)):
                inside = letters[position + 1 : end]
                for name, ranges in _CLASSES.items():
                    inside = inside.replace(f"[:{name}:]", ranges)
                written += f"[{'!' + inside[1:] if inside[:1] in ('^', '!') else inside}]"
                position = end
            elif letter in "*?[":
                self.stars += letter == "*" and active[position]
                written += letter if active[position] and letter != "[" else f"[{letter}]"
            else:
                written += letter
            position += 1
        whole = translate(written)
        self._whole, self._text = re.compile(whole), whole
        self._cost = len(written) + 1

    def matches(self, text: str) -> bool:
        """True if it matches all of a text. Raises Slow."""
        if len(text) * (self.stars + 1) > MAX_WORK:
            raise Slow
        return self._whole.match(text) is not None

    def bound(self, text: str, tries: int) -> None:
        """Raises Slow if so many tries on a text take too long."""
        if tries * len(text) * (self.stars + 1) > MAX_WORK:
            raise Slow

    def found(self, text: str) -> list[tuple[int, int]]:
        """Where it stands in a text, each time as long as possible. Raises Slow."""
        if not self.stars:
            self.bound(text, 1)
            inner = re.compile(self._text[: self._text.rindex("\\")])
            return [match.span() for match in inner.finditer(text) if match.end() > match.start()]
        places, start = list[tuple[int, int]](), 0
        self.bound(text, len(text) * len(text) // 2)
        while start < len(text):
            end = next((end for end in range(len(text), start, -1) if self.matches(text[start:end])), None)
            if end is not None:
                places.append((start, end))
            start = end or start + 1
        return places


def _set_end(letters: str, start: int) -> int:
    """Where the set that begins here is closed; 0 if it is not."""
    position = start + 1
    position += letters[position : position + 1] in ("!", "^")
    position += letters[position : position + 1] == "]"
    while position < len(letters) and letters[position] != "]":
        closed = letters.find(":]", position) if letters.startswith("[:", position) else -1
        position = closed + 2 if closed > 0 else position + 1
    return position if position < len(letters) else 0


def without_prefix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X#pattern}` and `${X##pattern}`. Raises Slow."""
    plain = text.plain
    pattern.bound(plain, len(plain) // 2)
    ends = range(len(plain), -1, -1) if longest else range(len(plain) + 1)
    return text.cut(next((end for end in ends if pattern.matches(plain[:end])), 0))


def without_suffix(text: Text, pattern: Pattern, longest: bool) -> Text:
    """`${X%pattern}` and `${X%%pattern}`. Raises Slow."""
    plain = text.plain
    pattern.bound(plain, len(plain) // 2)
    starts = range(len(plain) + 1) if longest else range(len(plain), -1, -1)
    return text.cut(0, next((start for start in starts if pattern.matches(plain[start:])), len(plain)))


def replaced(text: Text, pattern: Pattern, by: Text, operator: str) -> Text:
    """`${X/pattern/by}` and its kin; the longest match at the leftmost place. Raises Slow."""
    plain, size = text.plain, len(text.plain)
    if operator == "/#":
        kept = without_prefix(text, pattern, True)
        matched = len(kept.plain) < size or pattern.matches("")
        return Text((*by.pieces, *kept.pieces)) if matched else text
    if operator == "/%":
        kept = without_suffix(text, pattern, True)
        matched = len(kept.plain) < size or pattern.matches("")
        return Text((*kept.pieces, *by.pieces)) if matched else text
    if not plain:
        return by if pattern.matches("") else text
    places = pattern.found(plain)[: None if operator == "//" else 1]
    if len(places) > MAX_WORDS:
        raise Slow
    pieces, position = list[Piece](), 0
    for start, end in places:
        pieces += [*text.cut(position, start).pieces, *by.pieces]
        position = end
    return Text((*pieces, *text.cut(position).pieces)) if places else text


def changed_case(text: Text, operator: str, pattern: Pattern | None) -> Text:
    """`${X^}`, `${X^^}`, `${X,}` and `${X,,}`."""
    change = str.upper if operator[0] == "^" else str.lower
    pieces, first = [], True
    for piece in text.pieces:
        new = ""
        for letter in piece.text:
            meant = (first or len(operator) == 2) and (pattern is None or pattern.matches(letter))
            new += change(letter) if meant and len(change(letter)) == 1 else letter
            first = False
        pieces.append(piece if new == piece.text else replace(piece, text=new, exact=False))
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
            middles = [word for low, high in zip(edges, edges[1:]) for word in _expanded(parts[low + 1 : high], depth + 1)]
        elif counted := _counted(parts[start + 1 : end]):
            place = parts[start + 1].place
            middles = [[Literal(text, place, exact=False)] for text in counted]
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
    """The words of `1..3` or `a..c`; none if it is neither."""
    if len(inner) != 1 or not isinstance(inner[0], Literal) or inner[0].quoted:
        return []
    match = _RANGE.fullmatch(inner[0].text)
    if match is None:
        return []
    if match[4]:
        return [chr(each) for each in _numbers(ord(match[4]), ord(match[5]), int(match[6] or 1))]
    padded = any(re.match(r"-?0\d", text) for text in match.group(1, 2))
    width = max(map(len, match.group(1, 2))) if padded else 0
    numbers = _numbers(int(match[1]), int(match[2]), int(match[3] or 1))
    return [f"{each:0{width}d}" for each in numbers]


def _numbers(first: int, last: int, step: int) -> range:
    step = abs(step) or 1
    if abs(last - first) // step >= MAX_WORDS:
        raise Slow
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
