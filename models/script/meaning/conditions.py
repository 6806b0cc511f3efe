"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`. Files and the results of commands are not looked at.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from ..expanding.arithmetic import NotComputed, number
from ..expanding.calculation import Unfit
from ..expanding.expansion import Expander
from ..expanding.patterns import TooMuch
from ..syntax.parts import Place, Word
from .value import Text

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda one, other: one == other,
    "-ne": lambda one, other: one != other,
    "-lt": lambda one, other: one < other,
    "-le": lambda one, other: one <= other,
    "-gt": lambda one, other: one > other,
    "-ge": lambda one, other: one >= other,
}
_TEXTS = ("=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef")


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


class _Malformed(Exception):
    """The words are no condition."""


def test(words: Sequence[Text], shown: str, place: Place) -> Truth:
    """What `[ words ]` says; `shown` is how it is written."""
    return _judged(_Test(list(words), place), shown)


def extended(words: Sequence[Word], expander: Expander, shown: str, place: Place) -> Truth:
    """What `[[ words ]]` says."""
    return _judged(_Extended(list(words), expander, place), shown)


def computed(expression: Word, expander: Expander, shown: str) -> Truth:
    """What `(( expression ))` says: whether it is not 0."""
    try:
        value = expander.number(expression.parts, expression.place)
    except NotComputed as problem:
        return Truth(None, f"`{shown}` is not known: {problem}")
    depends = frozenset(name for text in expander.sources for name in text.unset | text.assumed)
    return Truth(value != 0, depends=depends)


def _judged(condition: _Test | _Extended, shown: str) -> Truth:
    try:
        truth = condition.whole()
    except (_Malformed, IndexError):
        return Truth(None, f"`{shown}` is no condition that is followed")
    return truth if truth.value is not None else Truth(None, f"it depends on whether `{shown}` holds: {truth.why}", truth.depends)


class _Test:
    """The words of `[ ... ]`, already expanded."""

    def __init__(self, words: list[Text], place: Place) -> None:
        self.words, self.place, self.position = words, place, 0

    def whole(self) -> Truth:
        """The verdict of all words. Raises _Malformed."""
        if not self.words:
            return Truth(False)
        if len(self.words) <= 3:  # then operators that could be operands are operands
            truth = self._few(self.words)
            if truth is not None:
                return truth
        truth = self._or()
        if self.position < len(self.words):
            raise _Malformed
        return truth

    def _few(self, words: list[Text]) -> Truth | None:
        plain = [word.plain for word in words]
        if len(words) == 1:
            return _nonempty(words[0])
        if len(words) == 2:
            return _nonempty(words[1]).negated() if plain[0] == "!" else _unary(plain[0], words[1])
        if plain[1] in _NUMBERS or plain[1] in _TEXTS:
            return _binary(words[0], plain[1], words[2])
        if plain[0] == "!":
            inner = self._few(words[1:])
            return inner.negated() if inner else None
        return None

    def _or(self) -> Truth:
        truth = self._and()
        while self._takes("-o"):
            truth = truth.either(self._and())
        return truth

    def _and(self) -> Truth:
        truth = self._not()
        while self._takes("-a"):
            truth = truth.both(self._not())
        return truth

    def _not(self) -> Truth:
        if len(self.words) > 400:
            raise _Malformed
        if self._takes("!"):
            return self._not().negated()
        if self._takes("("):
            truth = self._or()
            if not self._takes(")"):
                raise _Malformed
            return truth
        words = self.words[self.position :]
        if len(words) > 2 and (words[1].plain in _NUMBERS or words[1].plain in _TEXTS):
            self.position += 3
            return _binary(words[0], words[1].plain, words[2])
        if len(words) > 1 and len(words[0].plain) == 2 and words[0].plain[0] == "-" and words[0].plain not in ("-a", "-o"):
            self.position += 2
            return _unary(words[0].plain, words[1])
        self.position += 1
        return _nonempty(words[0])

    def _takes(self, text: str) -> bool:
        if self.position < len(self.words) and self.words[self.position].plain == text:
            self.position += 1
            return True
        return False


class _Extended:
    """The words of `[[ ... ]]`, not yet expanded."""

    def __init__(self, words: list[Word], expander: Expander, place: Place) -> None:
        self.words, self.expander, self.place, self.position = words, expander, place, 0

    def whole(self) -> Truth:
        """The verdict of all words. Raises _Malformed."""
        truth = self._or(0)
        if self.position < len(self.words):
            raise _Malformed
        return truth

    def _or(self, depth: int) -> Truth:
        truth = self._and(depth)
        while self._takes("||"):
            truth = truth.either(self._and(depth))
        return truth

    def _and(self, depth: int) -> Truth:
        truth = self._not(depth)
        while self._takes("&&"):
            truth = truth.both(self._not(depth))
        return truth

    def _not(self, depth: int) -> Truth:
        if depth > 64:
            raise _Malformed
        if self._takes("!"):
            return self._not(depth + 1).negated()
        if self._takes("("):
            truth = self._or(depth + 1)
            if not self._takes(")"):
                raise _Malformed
            return truth
        words = self.words[self.position :]
        operator = words[1].plain if len(words) > 2 else None
        if operator in _NUMBERS or operator in _TEXTS:
            self.position += 3
            return self._compared(words[0], str(operator), words[2])
        first = words[0].plain or ""
        if len(words) > 1 and len(first) == 2 and first[0] == "-":
            self.position += 2
            return _unary(first, self.expander.one(words[1].parts), self.expander)
        self.position += 1
        return _nonempty(self.expander.one(words[0].parts))

    def _compared(self, left: Word, operator: str, right: Word) -> Truth:
        one = self.expander.one(left.parts)
        if operator in ("=", "==", "!="):
            other = self.expander.one(right.parts)
            if not one.known or not other.known:
                return Truth(None, one.why_unknown or other.why_unknown, _depends(one, other))
            try:
                value = self.expander.pattern(right.parts).matches(one.plain)
            except Unfit as problem:
                return Truth(None, str(problem))
            except TooMuch:
                return Truth(None, "matching its pattern takes too long")
            return Truth(value == (operator != "!="), depends=_depends(one, other))
        other = self.expander.one(right.parts)
        if operator in _NUMBERS and one.known and other.known:
            try:
                numbers = self.expander.calculate(one, self.place), self.expander.calculate(other, self.place)
            except NotComputed as problem:
                return Truth(None, str(problem))
            return Truth(_NUMBERS[operator](*numbers), depends=_depends(one, other))
        return _binary(one, operator, other)

    def _takes(self, text: str) -> bool:
        if self.position < len(self.words) and self.words[self.position].plain == text:
            self.position += 1
            return True
        return False


def _depends(*texts: Text) -> frozenset[str]:
    return frozenset(name for text in texts for name in text.unset | text.assumed)


def _nonempty(text: Text) -> Truth:
    if not text.known and not any(piece.text for piece in text.pieces if not piece.unknown):
        return Truth(None, text.why_unknown, _depends(text))
    return Truth(bool(text.plain), depends=_depends(text))


def _unary(operator: str, text: Text, expander: Expander | None = None) -> Truth:
    if operator in ("-n", "-z"):
        truth = _nonempty(text)
        return truth if operator == "-n" else truth.negated()
    if operator == "-v" and expander is not None and text.known and not text.secret:
        value = expander.state.scalar(text.plain, (0, 0)) if text.plain.isidentifier() else None
        return Truth(value is not None, depends=frozenset() if value is not None else frozenset({text.plain}))
    if len(operator) == 2 and operator[0] == "-" and operator[1] in "abcdefghknoprstuwxGLNORSv":
        return Truth(None, "files are not looked at" if operator[1] not in "ovR" else "options are not followed", _depends(text))
    raise _Malformed


def _binary(left: Text, operator: str, right: Text) -> Truth:
    depends = _depends(left, right)
    if operator in ("-nt", "-ot", "-ef"):
        return Truth(None, "files are not looked at", depends)
    if not left.known or not right.known:
        return Truth(None, left.why_unknown or right.why_unknown, depends)
    if operator in _NUMBERS:
        try:
            return Truth(_NUMBERS[operator](_whole(left.plain), _whole(right.plain)), depends=depends)
        except NotComputed:
            return Truth(None, "it compares what is no whole number", depends)
    if operator in ("=", "==", "!="):
        return Truth((left.plain == right.plain) == (operator != "!="), depends=depends)
    return Truth(None, f"`{operator}` is not followed", depends)


def _whole(text: str) -> int:
    """A number as `[ ]` takes it: decimal, blanks around it. Raises NotComputed."""
    bare = text.strip(" \t\n")
    digits = bare[1:] if bare[:1] in ("-", "+") else bare
    if not digits.isascii() or not digits.isdecimal():
        raise NotComputed("it is no whole number")
    value = number(digits.lstrip("0") or "0")
    return -value if bare[:1] == "-" else value
