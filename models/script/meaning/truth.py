"""Whether something holds, as far as it is known, and what the operators of conditions say of expanded texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from ..expanding.expansion import Expander
from ..expanding.integers import NotComputed, number
from ..holding.value import Text

NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda one, other: one == other,
    "-ne": lambda one, other: one != other,
    "-lt": lambda one, other: one < other,
    "-le": lambda one, other: one <= other,
    "-gt": lambda one, other: one > other,
    "-ge": lambda one, other: one >= other,
}
TEXTS = ("=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef")


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether something holds; `value` is None where that is not known, `why` says why. `depends` names what was taken as not set."""

    value: bool | None
    why: str = ""
    depends: frozenset[str] = frozenset()

    def negated(self) -> Truth:
        """The opposite."""
        return Truth(None if self.value is None else not self.value, self.why, self.depends)

    def both(self, other: Truth) -> Truth:
        """This and the other."""
        values = (self.value, other.value)
        value = False if False in values else None if None in values else True
        return Truth(value, self.why or other.why, self.depends | other.depends)

    def either(self, other: Truth) -> Truth:
        """This or the other."""
        return self.negated().both(other.negated()).negated()


class Malformed(Exception):
    """The words are no condition."""


def depends(*texts: Text) -> frozenset[str]:
    """What was taken as not set in texts."""
    return frozenset(name for text in texts for name in text.unset | text.assumed)


def nonempty(text: Text) -> Truth:
    """Has it any letter?"""
    if not text.known and not any(piece.text for piece in text.pieces if not piece.unknown):
        return Truth(None, text.why_unknown, depends(text))
    return Truth(bool(text.plain), depends=depends(text))


def unary(operator: str, text: Text, expander: Expander | None = None) -> Truth:
    """What an operator says of one text. Raises Malformed if there is no such operator."""
    if operator in ("-n", "-z"):
        truth = nonempty(text)
        return truth if operator == "-n" else truth.negated()
    if operator == "-v" and expander is not None and text.known and not text.secret:
        value = expander.state.scalar(text.plain, (0, 0)) if text.plain.isidentifier() else None
        return Truth(value is not None, depends=frozenset() if value is not None else frozenset({text.plain}))
    if len(operator) == 2 and operator[0] == "-" and operator[1] in "abcdefghknoprstuwxGLNORSv":
        return Truth(None, "files are not looked at" if operator[1] not in "ovR" else "options are not followed", depends(text))
    raise Malformed


def binary(left: Text, operator: str, right: Text) -> Truth:
    """What an operator says of two texts, whose letters are taken as they are."""
    taken = depends(left, right)
    if operator in ("-nt", "-ot", "-ef"):
        return Truth(None, "files are not looked at", taken)
    if not left.known or not right.known:
        return Truth(None, left.why_unknown or right.why_unknown, taken)
    if operator in NUMBERS:
        try:
            return Truth(NUMBERS[operator](_whole(left.plain), _whole(right.plain)), depends=taken)
        except NotComputed:
            return Truth(None, "it compares what is no whole number", taken)
    if operator in ("=", "==", "!="):
        return Truth((left.plain == right.plain) == (operator != "!="), depends=taken)
    return Truth(None, f"`{operator}` is not followed", taken)


def _whole(text: str) -> int:
    """A number as `[ ]` takes it: decimal, blanks around it. Raises NotComputed."""
    bare = text.strip(" \t\n")
    digits = bare[1:] if bare[:1] in ("-", "+") else bare
    if not digits.isascii() or not digits.isdecimal():
        raise NotComputed("it is no whole number")
    value = number(digits.lstrip("0") or "0")
    return -value if bare[:1] == "-" else value
