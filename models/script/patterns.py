"""Patterns such as `*.sh` and `[a-z]?`, and braces such as `{1..3}`.

Source: the Bash Reference Manual, 3.5.1 (Brace Expansion), 3.5.8.1 (Pattern Matching). Braces with
commas are out of scope.
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import Sequence

from .arithmetic import NotComputed
from .syntax import Literal, Part

MAX_WORDS = 4_096
MAX_WORK = 2_000_000
_NUMBERS = re.compile(r"\{(0|[1-9][0-9]{0,8})\.\.(0|[1-9][0-9]{0,8})\}", re.ASCII)
_SEVERAL = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_EXTENDED = re.compile(r"[?*+@!]\(")


class Pattern:
    """Letters, of which only the `active` ones (not quoted) have a meaning of their own."""

    def __init__(self, letters: str, active: Sequence[bool]) -> None:
        """Make a matcher. Raises NotComputed."""
        if any(active[match.start()] for match in _EXTENDED.finditer(letters)):
            raise NotComputed("extended patterns are not followed")
        kept = "".join(
            letter if on or letter not in "*?[" else f"[{letter}]"
            for letter, on in zip(letters, active)
        )
        self._matcher = re.compile(translate(kept.replace("[^", "[!")))
        self._cost = 1 + letters.count("*")

    def matches(self, text: str, tries: int = 1) -> bool:
        """True if it matches all of a text, which is one of so many tries. Raises NotComputed."""
        if len(text) * self._cost * tries > MAX_WORK:
            raise NotComputed("matching its pattern takes too long")
        return self._matcher.match(text) is not None

    def without(self, text: str, sign: str) -> tuple[int, int]:
        """What is left of `${X#pattern}`, `##`, `%`, `%%`. Raises NotComputed."""
        size, prefix = len(text), sign[0] == "#"
        ends = range(size + 1) if prefix == (len(sign) == 1) else range(size, -1, -1)
        for end in ends:
            if self.matches(text[:end] if prefix else text[end:], size):
                return (end, size) if prefix else (0, end)
        return 0, size


def braced(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The words that `{1..3}` in a word makes. Raises NotComputed for braces out of scope."""
    plain = [
        part.text if isinstance(part, Literal) and not part.quoted else "\0" for part in parts
    ]
    if not _SEVERAL.search("".join(plain)):
        return [parts]
    at, match = next(
        ((at, match) for at, text in enumerate(plain) if (match := _NUMBERS.search(text))),
        (0, None),
    )
    if match is None or len(_SEVERAL.findall("".join(plain))) > 1:
        raise NotComputed("braces that make several words are not followed")
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= MAX_WORDS:
        raise NotComputed(f"the braces make more than {MAX_WORDS:,} words")
    begin, step = parts[at].place[0], 1 if first <= last else -1
    edges = ((0, match.start()), (match.end(), len(plain[at])))
    before, after = (
        Literal(plain[at][low:high], (begin + low, begin + high)) for low, high in edges
    )
    place = (begin + match.start(), begin + match.end())
    return [
        tuple(
            part
            for part in (
                *parts[:at], before, Literal(str(number), place, exact=False), after, *parts[at + 1 :],
            )
            if not isinstance(part, Literal) or part.quoted or part.text
        )
        for number in range(first, last + step, step)
    ]
