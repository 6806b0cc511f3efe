"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`. Files and the results of commands are not looked at.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, Sequence, TypeVar

from ..expanding.calculation import Unfit
from ..expanding.expansion import Expander
from ..expanding.integers import NotComputed
from ..expanding.patterns import TooMuch
from ..holding.value import Text
from ..syntax.parts import Place, Word
from .truth import NUMBERS, TEXTS, Malformed, Truth, binary, depends, nonempty, unary

W = TypeVar("W", Text, Word)
MAX_DEPTH, MAX_WORDS = 64, 400


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
    except (Malformed, IndexError):
        return Truth(None, f"`{shown}` is no condition that is followed")
    return truth if truth.value is not None else Truth(None, f"it depends on whether `{shown}` holds: {truth.why}", truth.depends)


class _Condition(ABC, Generic[W]):
    """The words of a condition, and which comes next."""

    OR: ClassVar[str]
    AND: ClassVar[str]

    def __init__(self, words: list[W], place: Place) -> None:
        self.words: list[W] = words
        self.place, self.position = place, 0

    def whole(self) -> Truth:
        """The verdict of all words. Raises Malformed."""
        truth = self._or(0)
        if self.position < len(self.words):
            raise Malformed
        return truth

    def _or(self, depth: int) -> Truth:
        truth = self._and(depth)
        while self._takes(self.OR):
            truth = truth.either(self._and(depth))
        return truth

    def _and(self, depth: int) -> Truth:
        truth = self._not(depth)
        while self._takes(self.AND):
            truth = truth.both(self._not(depth))
        return truth

    def _not(self, depth: int) -> Truth:
        if depth > MAX_DEPTH:
            raise Malformed
        if self._takes("!"):
            return self._not(depth + 1).negated()
        if self._takes("("):
            truth = self._or(depth + 1)
            if not self._takes(")"):
                raise Malformed
            return truth
        return self._single(self.words[self.position :])

    @abstractmethod
    def _single(self, words: list[W]) -> Truth:
        """What the next words say, up to one that joins or closes. Raises Malformed, or IndexError where there are none."""

    def _takes(self, text: str) -> bool:
        if self.position < len(self.words) and self.words[self.position].plain == text:
            self.position += 1
            return True
        return False


class _Test(_Condition[Text]):
    """The words of `[ ... ]`, already expanded."""

    OR, AND = "-o", "-a"

    def whole(self) -> Truth:
        """The verdict of all words. Raises Malformed."""
        if not self.words:
            return Truth(False)
        if len(self.words) > MAX_WORDS:
            raise Malformed
        if len(self.words) <= 3:  # then operators that could be operands are operands
            truth = self._few(self.words)
            if truth is not None:
                return truth
        return super().whole()

    def _few(self, words: list[Text]) -> Truth | None:
        plain = [word.plain for word in words]
        if len(words) == 1:
            return nonempty(words[0])
        if len(words) == 2:
            return nonempty(words[1]).negated() if plain[0] == "!" else unary(plain[0], words[1])
        if plain[1] in NUMBERS or plain[1] in TEXTS:
            return binary(words[0], plain[1], words[2])
        if plain[0] == "!":
            inner = self._few(words[1:])
            return inner.negated() if inner else None
        return None

    def _single(self, words: list[Text]) -> Truth:
        if len(words) > 2 and (words[1].plain in NUMBERS or words[1].plain in TEXTS):
            self.position += 3
            return binary(words[0], words[1].plain, words[2])
        if len(words) > 1 and len(words[0].plain) == 2 and words[0].plain[0] == "-" and words[0].plain not in ("-a", "-o"):
            self.position += 2
            return unary(words[0].plain, words[1])
        self.position += 1
        return nonempty(words[0])


class _Extended(_Condition[Word]):
    """The words of `[[ ... ]]`, not yet expanded."""

    OR, AND = "||", "&&"

    def __init__(self, words: list[Word], expander: Expander, place: Place) -> None:
        super().__init__(words, place)
        self.expander = expander

    def _single(self, words: list[Word]) -> Truth:
        operator = words[1].plain if len(words) > 2 else None
        if operator in NUMBERS or operator in TEXTS:
            self.position += 3
            return self._compared(words[0], str(operator), words[2])
        first = words[0].plain or ""
        if len(words) > 1 and len(first) == 2 and first[0] == "-":
            self.position += 2
            return unary(first, self.expander.one(words[1].parts), self.expander)
        self.position += 1
        return nonempty(self.expander.one(words[0].parts))

    def _compared(self, left: Word, operator: str, right: Word) -> Truth:
        one = self.expander.one(left.parts)
        if operator in ("=", "==", "!="):
            other = self.expander.one(right.parts)
            if not one.known or not other.known:
                return Truth(None, one.why_unknown or other.why_unknown, depends(one, other))
            try:
                value = self.expander.pattern(right.parts).matches(one.plain)
            except Unfit as problem:
                return Truth(None, str(problem))
            except TooMuch:
                return Truth(None, "matching its pattern takes too long")
            return Truth(value == (operator != "!="), depends=depends(one, other))
        other = self.expander.one(right.parts)
        if operator in NUMBERS and one.known and other.known:
            try:
                numbers = self.expander.calculate(one, self.place), self.expander.calculate(other, self.place)
            except NotComputed as problem:
                return Truth(None, str(problem))
            return Truth(NUMBERS[operator](*numbers), depends=depends(one, other))
        return binary(one, operator, other)
