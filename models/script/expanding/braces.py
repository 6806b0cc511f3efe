"""Brace expansion: `{a,b}` and `{1..3}` in a word make several words of it.

Source: the Bash Reference Manual, 3.5.1.
"""

from __future__ import annotations

import re
from typing import Iterator

from ..syntax.parts import Literal, Part

MAX_WORDS = 4_096
_RANGE = re.compile(
    r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})(?:\.\.(-?[0-9]{1,18}))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?[0-9]{1,18}))?", re.ASCII
)

Parts = tuple[Part, ...]


class TooMany(Exception):
    """The braces make more words than are followed."""


def braced(parts: Parts) -> list[Parts]:
    """The words that the braces of one make. Raises TooMany."""
    if not any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    return [tuple(word) for word in _expanded(_letters(parts))]


def _letters(parts: Parts) -> list[Part]:
    """The parts, with each unquoted brace and comma a part of its own."""
    found: list[Part] = []
    for part in parts:
        if not isinstance(part, Literal) or part.quoted:
            found.append(part)
            continue
        position = part.place[0]
        for piece in re.split(r"([{},])", part.text):
            if piece:
                found.append(Literal(piece, (position, position + len(piece))))
            position += len(piece)
    return found


def _expanded(parts: list[Part], depth: int = 0) -> list[list[Part]]:
    if depth > 24:
        raise TooMany
    for start, part in enumerate(parts):
        if not _is(part, "{"):
            continue
        end, commas = _closing(parts, start)
        if end is None:
            continue
        inner = parts[start + 1 : end]
        if commas:
            edges = [start, *commas, end]
            middles = [word for low, high in zip(edges, edges[1:]) for word in _expanded(parts[low + 1 : high], depth + 1)]
        else:
            counted = _counted(inner)
            if counted is None:
                continue
            middles = [[Literal(text, inner[0].place, exact=False)] for text in counted]
        rests = _expanded(parts[end + 1 :], depth + 1)
        if len(middles) * len(rests) > MAX_WORDS:
            raise TooMany
        return [[*parts[:start], *middle, *rest] for middle in middles for rest in rests]
    return [parts]


def _closing(parts: list[Part], start: int) -> tuple[int | None, list[int]]:
    """Where the brace is closed, and the commas between."""
    depth, commas = 0, list[int]()
    for position in range(start, len(parts)):
        if _is(parts[position], "{"):
            depth += 1
        elif _is(parts[position], "}"):
            depth -= 1
            if not depth:
                return position, commas
        elif _is(parts[position], ",") and depth == 1:
            commas.append(position)
    return None, []


def _is(part: Part, letter: str) -> bool:
    return isinstance(part, Literal) and not part.quoted and part.text == letter


def _counted(inner: list[Part]) -> list[str] | None:
    """The words of `1..3` or `a..c`; None if it is neither."""
    if len(inner) != 1 or not isinstance(inner[0], Literal) or inner[0].quoted:
        return None
    found = _RANGE.fullmatch(inner[0].text)
    if found is None:
        return None
    if found[4]:
        numbers = _numbers(ord(found[4]), ord(found[5]), int(found[6] or 1))
        return [chr(number) for number in numbers]
    width = (
        max(map(len, found.group(1, 2)))
        if any(text.lstrip("-").startswith("0") and len(text.lstrip("-")) > 1 for text in found.group(1, 2))
        else 0
    )
    return [f"{number:0{width}d}" for number in _numbers(int(found[1]), int(found[2]), int(found[3] or 1))]


def _numbers(first: int, last: int, step: int) -> Iterator[int]:
    step = abs(step) or 1
    if abs(last - first) // step >= MAX_WORDS:
        raise TooMany
    return iter(range(first, last + 1, step) if first <= last else range(first, last - 1, -step))
