"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`; tests of files and commands are unknown.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions). Parentheses are out of scope.
"""

from __future__ import annotations

import operator
from typing import Callable, Sequence

from ..record import dataclass
from .arithmetic import NotComputed
from .expand import Expander
from .pieces import Place, WordText
from .syntax import Word

MAX_WORDS = 400
_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt,
    "-le": operator.le, "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
_COMPARING = (*_NUMBERS, "=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef")


@dataclass(frozen=True, slots=True)
class Truth:
    """Truth of a condition: true, false or unknown.

    Attributes
    ----------
    value : None if unknown; `why` is the reason, as a sentence or its end.
    depends : variables and arguments assumed unset.
    """

    value: bool | None
    why: str = ""
    depends: frozenset[str] = frozenset()

    def negated(self) -> Truth:
        """Return the negation."""
        return Truth(None if self.value is None else not self.value, self.why, self.depends)

    def both(self, other: Truth) -> Truth:
        """Return the conjunction."""
        values = (self.value, other.value)
        value = False if False in values else None if None in values else True
        return Truth(value, self.why or other.why, self.depends | other.depends)

    def either(self, other: Truth) -> Truth:
        """Return the disjunction."""
        return self.negated().both(other.negated()).negated()


HOLDS = Truth(True)


def depends(*texts: WordText) -> frozenset[str]:
    """Return the variables assumed unset in texts."""
    return frozenset(name for text in texts for name in text.unset | text.assumed)


def evaluate_sum(inside: Place, expander: Expander, shown: str) -> Truth:
    """Evaluate `(( sum ))`: true if the sum is not 0."""
    try:
        value = expander.number(inside, expander.place(inside))
    except NotComputed as problem:
        return Truth(None, f"`{shown}` is not known: {problem}")
    return _known(value != 0, *expander.sources)


def evaluate_test(words: Sequence[Word | WordText], shown: str, expander: Expander) -> Truth:
    """Evaluate `[[ words ]]`, or `[ words ]` of expanded words.

    `shown` is the condition as written.
    """
    if not words:
        return Truth(False)
    try:
        truth = _Condition(words, expander).whole()
    except (NotComputed, IndexError) as problem:
        why = "" if isinstance(problem, IndexError) else f": {problem}"
        return Truth(None, f"`{shown}` is no condition that is followed{why}")
    if truth.value is not None:
        return truth
    return Truth(None, f"it depends on whether `{shown}` holds: {truth.why}", truth.depends)


@dataclass
class _Condition:
    """Parser of the words of a condition, with the position of the next word."""

    words: Sequence[Word | WordText]
    expander: Expander
    position: int = 0

    def whole(self) -> Truth:
        """Evaluate all words. Raises NotComputed or IndexError."""
        truth = self._and()
        while self._takes("||", "-o"):
            truth = truth.either(self._and())
        if self.position < len(self.words) or len(self.words) > MAX_WORDS:
            raise IndexError
        return truth

    def _and(self) -> Truth:
        truth = self._single()
        while self._takes("&&", "-a"):
            truth = truth.both(self._single())
        return truth

    def _takes(self, *signs: str) -> bool:
        is_next = self.position < len(self.words) and self.words[self.position].plain in signs
        self.position += is_next
        return is_next

    def _single(self) -> Truth:
        """Evaluate the next words up to a joining operator."""
        negated = False
        while len(self.words) > self.position + 1 and self._takes("!"):
            negated = not negated
        truth = self._plain([word.plain for word in self.words[self.position :]])
        return truth.negated() if negated else truth

    def _plain(self, following: Sequence[str]) -> Truth:
        """Evaluate `a = b`, `-n a` or `a`. Raises NotComputed or IndexError."""
        first, sign = self.words[self.position], following[0]
        if isinstance(first, Word) and self.expander.script.text[first.place[0]] == "(":
            raise NotComputed("parentheses are not followed")
        if len(following) > 2 and following[1] in _COMPARING:
            self.position += 3
            return self._compared(first, following[1], self.words[self.position - 1])
        if len(following) < 2 or len(sign) != 2 or sign[0] != "-":
            self.position += 1
            return _nonempty(self._text(first))
        self.position += 2
        text = self._text(self.words[self.position - 1])
        if sign in ("-n", "-z"):
            return _nonempty(text) if sign == "-n" else _nonempty(text).negated()
        return Truth(None, "files are not looked at", depends(text))

    def _text(self, word: Word | WordText) -> WordText:
        return self.expander.one(word.parts) if isinstance(word, Word) else word

    def _compared(self, left: Word | WordText, sign: str, right: Word | WordText) -> Truth:
        """Evaluate a comparison of two words. Raises NotComputed."""
        first, second = self._text(left), self._text(right)
        assumed = depends(first, second)
        if not first.known or not second.known:
            return Truth(None, first.why_unknown or second.why_unknown, assumed)
        if sign in _NUMBERS:
            numbers = [self.expander.calculate(text, text.place(0, 1)) for text in (first, second)]
            return _known(_NUMBERS[sign](*numbers), first, second)
        if sign not in ("=", "==", "!="):
            return Truth(None, f"`{sign}` is not followed", assumed)
        same = first.plain == second.plain
        if isinstance(right, Word):
            same = self.expander.pattern(right.parts).matches(first.plain)
        if self.expander.state.doubting:
            return _known(same == (sign != "!="), first, second)
        return Truth(same == (sign != "!="), depends=assumed)


def _known(value: bool, *texts: WordText) -> Truth:
    """Return a truth computed from texts; unknown if the environment may provide them.

    An unset variable is no number.
    """
    names = sorted(name for text in texts for name in text.unset if name[0] != "$")
    if names:
        return Truth(None, f"`{names[0]}` is not set in the script", depends(*texts))
    return Truth(value, depends=depends(*texts))


def _nonempty(text: WordText) -> Truth:
    """Return the truth of "the text is not empty"."""
    known = text.known or any(piece.text for piece in text.pieces if not piece.unknown)
    if not known:
        return Truth(None, text.why_unknown, depends(text))
    return Truth(bool(text.plain), depends=depends(text))
