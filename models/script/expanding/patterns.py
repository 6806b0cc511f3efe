"""Patterns such as `*.sh` and `[a-z]?`, matched without ever running long.

Source: the Bash Reference Manual, 3.5.8.1 (Pattern Matching); the extended forms such as `+(a|b)` are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

MAX_WORK = 400_000


class TooMuch(Exception):
    """Matching would take too long."""


@dataclass(frozen=True, slots=True)
class _Set:
    """`[...]`: single characters and ranges."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, letter: str) -> bool:
        return any(low <= letter <= high for low, high in self.ranges) != self.negated


_CLASSES = {
    "alpha": (("a", "z"), ("A", "Z")),
    "digit": (("0", "9"),),
    "alnum": (("a", "z"), ("A", "Z"), ("0", "9")),
    "upper": (("A", "Z"),),
    "lower": (("a", "z"),),
    "space": ((" ", " "), ("\t", "\r")),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
}
_ANY, _STAR = object(), object()


class Pattern:
    """A pattern of letters, of which only the `active` ones (not quoted) have a meaning of their own.

    `work` is how many steps it took so far; it raises TooMuch beyond MAX_WORK.
    """

    def __init__(self, letters: str, active: list[bool]) -> None:
        self._tokens = list(_tokens(letters, active))
        self.work = 0

    def matches(self, text: str) -> bool:
        """Does it match all of a text?"""
        return len(text) in set(self._ends(text, 0))

    def ends(self, text: str, start: int) -> set[int]:
        """Where it may end when it begins at an offset."""
        return set(self._ends(text, start))

    def _ends(self, text: str, start: int) -> list[int]:
        """All ends, by a set of states: the work is at most the length of the text times that of the pattern."""
        states, found = self._closed({0}), []
        for position in range(start, len(text) + 1):
            if len(self._tokens) in states:
                found.append(position)
            if position == len(text) or not states:
                break
            self.work += 1 + len(states)
            if self.work > MAX_WORK:
                raise TooMuch
            letter, following = text[position], set[int]()
            for state in states:
                if state == len(self._tokens):
                    continue
                token = self._tokens[state]
                if token is _STAR:
                    following.add(state)
                elif token is _ANY or (token.holds(letter) if isinstance(token, _Set) else token == letter):
                    following.add(state + 1)
            states = self._closed(following)
        return found

    def _closed(self, states: set[int]) -> set[int]:
        """The states, and those that a `*` that matches nothing leads to."""
        every, open_ = set(states), list(states)
        while open_:
            state = open_.pop()
            if state < len(self._tokens) and self._tokens[state] is _STAR and state + 1 not in every:
                every.add(state + 1)
                open_.append(state + 1)
        return every


def _tokens(letters: str, active: list[bool]) -> Iterator[object]:
    position = 0
    while position < len(letters):
        letter = letters[position]
        if not active[position]:
            yield letter
        elif letter == "*":
            yield _STAR
        elif letter == "?":
            yield _ANY
        elif letter == "[" and (found := _set(letters, active, position)):
            token, position = found
            yield token
            continue
        else:
            yield letter
        position += 1


def _set(letters: str, active: list[bool], start: int) -> tuple[_Set, int] | None:
    """The set that begins at an offset, and where it ends; None if it is not closed."""
    position = start + 1
    negated = letters[position : position + 1] in ("!", "^") and active[position]
    position += negated
    first, ranges = position, list[tuple[str, str]]()
    while position < len(letters):
        letter = letters[position]
        if letter == "]" and position > first and active[position]:
            return _Set(tuple(ranges), negated), position + 1
        if letters.startswith("[:", position) and (end := letters.find(":]", position)) > 0:
            ranges += _CLASSES.get(letters[position + 2 : end], ())
            position = end + 2
        elif letters[position + 1 : position + 2] == "-" and letters[position + 2 : position + 3] not in ("", "]"):
            ranges.append((letter, letters[position + 2]))
            position += 3
        else:
            ranges.append((letter, letter))
            position += 1
    return None
