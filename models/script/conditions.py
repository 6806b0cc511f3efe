"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`. Files and the results of commands are not looked at.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Generic, Sequence, TypeVar

from .expand import Expander, Unfit
from .patterns import Slow
from .pieces import Place, Text
from .sums import NotComputed, number
from .syntax import Word

W = TypeVar("W", Text, Word)
MAX_DEPTH, MAX_WORDS = 48, 400
_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_TEXTS = ("=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef")


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether something holds; `value` is None if that is unknown, `why` says why. `depends` names what was taken as not set."""

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


HOLDS = Truth(True)


class Malformed(Exception):
    """The words are no condition."""


def depends(*texts: Text) -> frozenset[str]:
    """What was taken as not set in texts."""
    return frozenset(name for text in texts for name in text.unset | text.assumed)


def tested(words: Sequence[Text], shown: str, expander: Expander) -> Truth:
    """What `[ words ]` says; `shown` is how it is written."""
    return _judged(_Test(list(words), expander, (0, 0)), shown)


def extended(place: Place, expander: Expander) -> Truth:
    """What `[[ ... ]]` says, whose words stand between two offsets."""
    words = list(expander.script.words(*place))
    shown = f"[[ {expander.shown(place)} ]]"
    return _judged(_Extended(words, expander, place), shown[:60])


def computed(inside: Place, expander: Expander, shown: str) -> Truth:
    """What `(( sum ))` says: whether it is not 0."""
    try:
        value = expander.number(inside, expander.place(inside))
    except NotComputed as problem:
        return Truth(None, f"`{shown}` is not known: {problem}")
    return Truth(value != 0, depends=depends(*expander.sources))


def _judged(condition: _Test | _Extended, shown: str) -> Truth:
    try:
        truth = condition.whole()
    except (Malformed, IndexError):
        return Truth(None, f"`{shown}` is no condition that is followed")
    if truth.value is not None:
        return truth
    return Truth(None, f"it depends on whether `{shown}` holds: {truth.why}", truth.depends)


def _nonempty(text: Text) -> Truth:
    if not text.known and not any(piece.text for piece in text.pieces if not piece.unknown):
        return Truth(None, text.why_unknown, depends(text))
    return Truth(bool(text.plain), depends=depends(text))


def _unary(operator: str, text: Text, expander: Expander) -> Truth:
    """What an operator says of one text. Raises Malformed if there is no such operator."""
    if operator in ("-n", "-z"):
        truth = _nonempty(text)
        return truth if operator == "-n" else truth.negated()
    if operator == "-v" and text.known and not text.secret:
        value = expander.state.scalar(text.plain, (0, 0)) if text.plain.isidentifier() else None
        return Truth(value is not None, depends=frozenset() if value is not None else frozenset({text.plain}))
    if len(operator) == 2 and operator[0] == "-" and operator[1] in "abcdefghknoprstuvwxGLNORSv":
        why = "files are not looked at" if operator[1] not in "ovR" else "options are not followed"
        return Truth(None, why, depends(text))
    raise Malformed


def _binary(left: Text, operator: str, right: Text) -> Truth:
    """What an operator says of two texts, whose letters are taken as they are."""
    taken = depends(left, right)
    if operator in ("-nt", "-ot", "-ef"):
        return Truth(None, "files are not looked at", taken)
    if not left.known or not right.known:
        return Truth(None, left.why_unknown or right.why_unknown, taken)
    if operator in _NUMBERS:
        try:
            return Truth(_NUMBERS[operator](_whole(left.plain), _whole(right.plain)), depends=taken)
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


class _Condition(Generic[W]):
    """The words of a condition, and which comes next."""

    OR = AND = ""

    def __init__(self, words: list[W], expander: Expander, place: Place) -> None:
        self.words: list[W] = words
        self.expander, self.place, self.position = expander, place, 0

    def whole(self) -> Truth:
        """The verdict of all words. Raises Malformed."""
        if len(self.words) > MAX_WORDS:
            raise Malformed
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
        return self.single(self.words[self.position :], depth)

    def single(self, words: list[W], depth: int) -> Truth:
        """What the next words say, up to one that joins or closes. Raises Malformed or IndexError."""
        raise NotImplementedError

    def _takes(self, text: str) -> bool:
        taken = self.position < len(self.words) and self.words[self.position].plain == text
        self.position += taken
        return taken


class _Test(_Condition[Text]):
    """The words of `[ ... ]`, already expanded."""

    OR, AND = "-o", "-a"

    def whole(self) -> Truth:
        """The verdict of all words; of up to three, those that could be operands are. Raises Malformed."""
        truth = self._few(self.words) if len(self.words) <= 3 else None
        return truth if truth is not None else super().whole()

    def _few(self, words: list[Text]) -> Truth | None:
        plain = [word.plain for word in words]
        if len(words) < 2:
            return _nonempty(words[0]) if words else Truth(False)
        if len(words) == 2:
            return _nonempty(words[1]).negated() if plain[0] == "!" else _unary(plain[0], words[1], self.expander)
        if plain[1] in _NUMBERS or plain[1] in _TEXTS:
            return _binary(words[0], plain[1], words[2])
        inner = self._few(words[1:]) if plain[0] == "!" else None
        return inner.negated() if inner else None

    def single(self, words: list[Text], depth: int) -> Truth:
        """What the next words say. Raises Malformed or IndexError."""
        if len(words) > 2 and (words[1].plain in _NUMBERS or words[1].plain in _TEXTS):
            self.position += 3
            return _binary(words[0], words[1].plain, words[2])
        first = words[0].plain
        if len(words) > 1 and len(first) == 2 and first[0] == "-" and first not in ("-a", "-o"):
            self.position += 2
            return _unary(first, words[1], self.expander)
        self.position += 1
        return _nonempty(words[0])


class _Extended(_Condition[Word]):
    """The words of `[[ ... ]]`, not yet expanded; what stands in parentheses is one word."""

    OR, AND = "||", "&&"

    def single(self, words: list[Word], depth: int) -> Truth:
        """What the next words say. Raises Malformed or IndexError."""
        start, end = words[0].place
        if self.expander.script.text[start] == "(" and self.expander.script.text[end - 1] == ")":
            self.position += 1
            inner = list(self.expander.script.words(start + 1, end - 1))
            if depth > MAX_DEPTH:
                raise Malformed
            return _Extended(inner, self.expander, self.place)._or(depth + 1)
        operator = words[1].plain if len(words) > 2 else ""
        if operator in _NUMBERS or operator in _TEXTS:
            self.position += 3
            return self._compared(words[0], operator, words[2])
        first = words[0].plain
        if len(words) > 1 and len(first) == 2 and first[0] == "-":
            self.position += 2
            return _unary(first, self.expander.one(words[1].parts), self.expander)
        self.position += 1
        return _nonempty(self.expander.one(words[0].parts))

    def _compared(self, left: Word, operator: str, right: Word) -> Truth:
        expander = self.expander
        first, second = expander.one(left.parts), expander.one(right.parts)
        taken = depends(first, second)
        if first.known and second.known:
            try:
                if operator in ("=", "==", "!="):
                    value = expander.pattern(right.parts).matches(first.plain)
                    return Truth(value == (operator != "!="), depends=taken)
                if operator in _NUMBERS:
                    place = expander.place(self.place)
                    numbers = expander.calculate(first, place), expander.calculate(second, place)
                    return Truth(_NUMBERS[operator](*numbers), depends=taken)
            except (Unfit, NotComputed) as problem:
                return Truth(None, str(problem))
            except Slow:
                return Truth(None, "matching its pattern takes too long")
        return _binary(first, operator, second)
