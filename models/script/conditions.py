"""Conditions: `[ ... ]`, `[[ ... ]]`, `(( ... ))`; tests of files and commands are unknown.

Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions). Parentheses are out of scope.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Callable, Sequence

from ..record import dataclass
from .arithmetic import NotComputed
from .expand import Expander, fits
from .pieces import Place, WordText
from .syntax import Part

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

    @staticmethod
    def of(value: bool | None, *texts: WordText, why: str = "") -> Truth:
        """Build a truth that depends on texts."""
        return Truth(value, why, frozenset(name for text in texts for name in text.unset | text.assumed))

    def negate(self) -> Truth:
        """Return the negation."""
        return Truth(None if self.value is None else not self.value, self.why, self.depends)

    def both(self, following: Truth) -> Truth:
        """Return the conjunction."""
        values = (self.value, following.value)
        value = False if False in values else None if None in values else True
        return Truth(value, self.why or following.why, self.depends | following.depends)

    def either(self, following: Truth) -> Truth:
        """Return the disjunction."""
        return self.negate().both(following.negate()).negate()


HOLDS = Truth(True)


def evaluate_sum(text: WordText, place: Place, expander: Expander, source_text: str) -> Truth:
    """Evaluate `(( sum ))`: true if the sum is not 0."""
    try:
        total = expander.calculate(text, place)
    except NotComputed as problem:
        return Truth(None, f"`{source_text}` is not known: {problem}")
    return _unless_unset(total.plain != "0", total)


def evaluate_test(operands: Sequence[Operand], source_text: str, expander: Expander) -> Truth:
    """Evaluate `[[ operands ]]` or `[ operands ]`; `source_text` is the condition as written."""
    if not operands:
        return Truth(False)
    disjunction, conjunction = ("-o", "-a") if operands[0].parts is None else ("||", "&&")
    try:
        if len(operands) > MAX_WORDS:
            raise NotComputed("")
        tests = [[_single(test, expander) for test in _split(group, conjunction)] for group in _split(operands, disjunction)]
        truth = reduce(Truth.either, [reduce(Truth.both, group) for group in tests])
    except NotComputed as problem:
        why = f": {problem}" if str(problem) else ""
        return Truth(None, f"`{source_text}` is not a condition that is followed{why}")
    if truth.value is not None:
        return truth
    return Truth(None, f"it depends on whether `{source_text}` holds: {truth.why}", truth.depends)


@dataclass(frozen=True, slots=True)
class Operand:
    """Word of a condition: how it is written, its text, and its parts in `[[ ... ]]`."""

    sign: str
    text: WordText
    parts: tuple[Part, ...] | None = None


def _split(operands: Sequence[Operand], separator: str) -> list[list[Operand]]:
    """Split at a joining sign; after a comparing sign it is an operand itself."""
    groups, previous = [list[Operand]()], ""
    for operand in operands:
        if operand.sign == separator and previous not in _COMPARING:
            groups.append([])
        else:
            groups[-1].append(operand)
        previous = operand.sign
    return groups


def _single(test: Sequence[Operand], expander: Expander) -> Truth:
    """Evaluate `! test`, `a = b`, `-n a` or `a`. Raises NotComputed."""
    if len(test) > 1 and test[0].sign == "!":
        return _single(test[1:], expander).negate()
    if test and test[0].parts and test[0].sign[0] == "(":
        raise NotComputed("parentheses are not followed")
    match test:
        case [operand]:
            return _nonempty(operand.text)
        case [Operand(sign="-n"), operand]:
            return _nonempty(operand.text)
        case [Operand(sign="-z"), operand]:
            return _nonempty(operand.text).negate()
        case [Operand(sign=sign), operand] if len(sign) == 2 and sign[0] == "-":
            return Truth.of(None, operand.text, why="files are not looked at")
        case [left, Operand(sign=sign), right] if sign in _COMPARING:
            return _compare(left.text, sign, right, expander)
    raise NotComputed("")


def _compare(left: WordText, sign: str, operand: Operand, expander: Expander) -> Truth:
    right = operand.text
    if not left.known or not right.known:
        return Truth.of(None, left, right, why=left.why_unknown or right.why_unknown)
    if sign in _NUMBERS:
        numbers = [int(expander.calculate(text, text.place(0, 1)).plain) for text in (left, right)]
        return _unless_unset(_NUMBERS[sign](*numbers), left, right)
    if sign not in ("=", "==", "!="):
        return Truth.of(None, left, right, why=f"`{sign}` is not followed")
    same = left.plain == right.plain if operand.parts is None else fits(left.plain, expander.pattern(operand.parts))
    truth = _unless_unset if expander.state.doubting else Truth.of
    return truth(same == (sign != "!="), left, right)


def _unless_unset(value: bool, *texts: WordText) -> Truth:
    """Return a truth computed from texts; unknown if the environment may provide them.

    An unset variable is not a number.
    """
    names = sorted(name for text in texts for name in text.unset if name[0] != "$")
    return Truth.of(None, *texts, why=f"`{names[0]}` is not set in the script") if names else Truth.of(value, *texts)


def _nonempty(text: WordText) -> Truth:
    if text.known or any(piece.text for piece in text.pieces if not piece.unknown):
        return Truth.of(bool(text.plain), text)
    return Truth.of(None, text, why=text.why_unknown)
