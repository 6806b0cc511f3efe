"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`. Files and the results of commands are not looked at.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions).
"""

from __future__ import annotations

import operator
from typing import Callable, Sequence

from ..record import dataclass
from .expand import Expander, Unfit
from .patterns import Slow
from .pieces import Place, Text
from .sums import NotComputed
from .syntax import Word

MAX_DEPTH, MAX_WORDS = 48, 400
_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le, "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
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
    return _judged(_Condition(words, expander, (0, 0)), shown) if words else Truth(False)


def extended(place: Place, expander: Expander) -> Truth:
    """What `[[ ... ]]` says, whose words stand between two offsets."""
    words = list(expander.script.words(*place))
    shown = f"[[ {expander.shown(place)} ]]"
    return _judged(_Condition(words, expander, place), shown[:60])


def computed(inside: Place, expander: Expander, shown: str) -> Truth:
    """What `(( sum ))` says: whether it is not 0."""
    try:
        value = expander.number(inside, expander.place(inside))
    except NotComputed as problem:
        return Truth(None, f"`{shown}` is not known: {problem}")
    return Truth(value != 0, depends=depends(*expander.sources))


def _judged(condition: _Condition, shown: str) -> Truth:
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


def _unary(sign: str, text: Text, expander: Expander) -> Truth:
    """What an operator says of one text. Raises Malformed if there is no such operator."""
    if sign in ("-n", "-z"):
        truth = _nonempty(text)
        return truth if sign == "-n" else truth.negated()
    if sign == "-v" and text.known and not text.secret:
        value = expander.state.scalar(text.plain, (0, 0)) if text.plain.isidentifier() else None
        return Truth(value is not None, depends=frozenset() if value is not None else frozenset({text.plain}))
    if len(sign) == 2 and sign[0] == "-" and sign[1] in "abcdefghknoprstuvwxGLNORSv":
        why = "files are not looked at" if sign[1] not in "ovR" else "options are not followed"
        return Truth(None, why, depends(text))
    raise Malformed


@dataclass
class _Condition:
    """The words of `[[ ]]`, or those of `[ ]` expanded, and which comes next."""

    words: Sequence[Word | Text]
    expander: Expander
    place: Place
    position: int = 0

    def whole(self) -> Truth:
        """The verdict of all words. Raises Malformed or IndexError."""
        truth = self._or(0)
        if self.position < len(self.words) or len(self.words) > MAX_WORDS:
            raise Malformed
        return truth

    def _or(self, depth: int) -> Truth:
        truth = self._and(depth)
        while self._takes("||", "-o"):
            truth = truth.either(self._and(depth))
        return truth

    def _and(self, depth: int) -> Truth:
        truth = self._single(depth)
        while self._takes("&&", "-a"):
            truth = truth.both(self._single(depth))
        return truth

    def _takes(self, *signs: str) -> bool:
        taken = self.position < len(self.words) and self.words[self.position].plain in signs
        self.position += taken
        return taken

    def _single(self, depth: int) -> Truth:
        """What the next words say, up to one that joins."""
        if depth > MAX_DEPTH or self.position >= len(self.words):
            raise Malformed
        if len(self.words) > self.position + 1 and self._takes("!"):
            return self._single(depth + 1).negated()
        word, following = self.words[self.position], [each.plain for each in self.words[self.position :]]
        if isinstance(word, Word) and self.expander.script.text[word.place[0]] == "(":
            self.position += 1  # what stands in parentheses is one word
            inner = self.expander.script.words(word.place[0] + 1, word.place[1] - 1)
            return _Condition(list(inner), self.expander, self.place)._or(depth + 1)
        if len(following) > 2 and (following[1] in _NUMBERS or following[1] in _TEXTS):
            self.position += 3
            return self._compared(word, following[1], self.words[self.position - 1])
        if len(following) > 1 and len(following[0]) == 2 and following[0][0] == "-":
            self.position += 2
            return _unary(following[0], self._text(self.words[self.position - 1]), self.expander)
        self.position += 1
        return _nonempty(self._text(word))

    def _text(self, word: Word | Text) -> Text:
        return self.expander.one(word.parts) if isinstance(word, Word) else word

    def _compared(self, left: Word | Text, sign: str, right: Word | Text) -> Truth:
        first, second = self._text(left), self._text(right)
        taken = depends(first, second)
        if sign in ("-nt", "-ot", "-ef"):
            return Truth(None, "files are not looked at", taken)
        if not first.known or not second.known:
            return Truth(None, first.why_unknown or second.why_unknown, taken)
        try:
            if sign in ("=", "==", "!="):
                same = first.plain == second.plain
                if isinstance(right, Word):
                    same = self.expander.pattern(right.parts).matches(first.plain)
                return Truth(same == (sign != "!="), depends=taken)
            if sign in _NUMBERS:
                place = self.expander.place(self.place)
                numbers = [self.expander.calculate(text, place) for text in (first, second)]
                return Truth(_NUMBERS[sign](*numbers), depends=taken)
        except (Unfit, NotComputed) as problem:
            return Truth(None, str(problem))
        except Slow:
            return Truth(None, "matching its pattern takes too long")
        return Truth(None, f"`{sign}` is not followed", taken)
