"""Arithmetic on whole numbers of 64 bits, as in `$((a * 8))`; nothing is evaluated as code.

Source: the Bash Reference Manual, 6.5 (Shell Arithmetic). Operators on bits and numbers that are not
decimal, powers and `a ? b : c` are out of scope.
"""

from __future__ import annotations

import operator
import re
from typing import Callable

MAX_LENGTH = 2_048
MAX_NESTING = 32
_TOKEN = re.compile(
    r"\s*(?:(0(?![0-9xX#])|[1-9][0-9]{0,18}(?![0-9#]))|([A-Za-z_]\w*)"
    r"|(\+\+|--|&&|\|\||[+\-<>=!]=|[-+*/%<>=!()]))",
    re.ASCII,
)
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<=", ">=", "<", ">"), ("+", "-"), ("*", "/", "%"))
_LEVEL = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
_OPERATE: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: bool(left or right),
    "&&": lambda left, right: bool(left and right),
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge,
    "<": operator.lt, ">": operator.gt, "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    "%": lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
}  # fmt: skip


class NotComputed(Exception):
    """The expression has no value here; the message says why, as the end of a sentence."""


class Sum:
    """An expression; variables through `lookup`, assignments through `store`."""

    def __init__(self, text: str, lookup: Callable[[str], int], store: Callable[[str, int], None]) -> None:
        """Read the text. Raises NotComputed."""
        self._lookup, self._store, self._tokens = lookup, store, list[str]()
        self._next = self._depth = position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or len(text) > MAX_LENGTH:
                raise NotComputed("it is no arithmetic expression that is followed")
            self._tokens.append(match[1] or match[2] or match[3])
            position = match.end()

    def value(self) -> int:
        """The value of all of it; 0 of nothing. Raises NotComputed."""
        value = self._binary(0) if self._tokens else 0
        if self._next < len(self._tokens):
            raise NotComputed("it is no arithmetic expression that is followed")
        return value

    def _take(self, *signs: str) -> str:
        """The next token if it is one of these (any, if none are named); "" otherwise."""
        sign = self._tokens[self._next] if self._next < len(self._tokens) else ""
        taken = sign != "" and (not signs or sign in signs)
        self._next += taken
        return sign if taken else ""

    def _binary(self, level: int) -> int:
        """Operators of this level and tighter ones."""
        value = self._unary()
        while self._next < len(self._tokens) and _LEVEL.get(self._tokens[self._next], -1) >= level:
            sign = self._take()
            right = self._binary(_LEVEL[sign] + 1)
            if sign in ("/", "%") and not right:
                raise NotComputed("it divides by zero")
            value = _wrapped(_OPERATE[sign](value, right))
        return value

    def _unary(self) -> int:
        """Signs before an operand, and the operand."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        if sign := self._take("+", "-", "!"):
            value = self._unary()
            value = _wrapped(-value) if sign == "-" else int(not value) if sign == "!" else value
        elif self._take("("):
            value = self._binary(0)
            if not self._take(")"):
                raise NotComputed("a parenthesis is not closed")
        else:
            value = self._operand(self._take())
        self._depth -= 1
        return value

    def _operand(self, text: str) -> int:
        """A number, a variable or an assignment."""
        if text.isdecimal():
            return _wrapped(int(text))
        if sign := self._take("=", "+=", "-="):
            return self._set(text, sign[0], self._binary(0))
        if sign := self._take("++", "--"):
            return self._set(text, sign[0], 1) - (1 if sign == "++" else -1)
        if not text.isidentifier():
            raise NotComputed(f"`{text}` cannot stand there" if text else "it ends too early")
        return self._lookup(text)

    def _set(self, name: str, sign: str, amount: int) -> int:
        """Assign to a variable, or add to it."""
        if not name.isidentifier():
            raise NotComputed("it assigns to what is no variable")
        value = amount
        if sign != "=":
            value = _wrapped(self._lookup(name) + (amount if sign == "+" else -amount))
        self._store(name, value)
        return value


def _wrapped(value: int) -> int:
    """The value as a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
