"""Arithmetic on whole numbers of 64 bits, as in `$((a * 8))`; nothing is evaluated as code.

Source: the Bash Reference Manual, 6.5 (Shell Arithmetic); operators on bits, and numbers that are not decimal, are out of scope.
"""

from __future__ import annotations

import re
from typing import Callable

MAX_LENGTH = 2_048
MAX_NESTING = 32
_TOKEN = re.compile(
    r"\s*(?:(0(?![0-9xX#])|[1-9][0-9]{0,18}(?![0-9#]))|([A-Za-z_]\w*)|(\*\*|\+\+|--|&&|\|\||[+\-<>=!]=|[-+*/%<>=!?:()]))", re.ASCII
)
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<=", ">=", "<", ">"), ("+", "-"), ("*", "/", "%"), ("**",))
_LEVEL = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
_OPERATE: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left) or bool(right)),
    "&&": lambda left, right: int(bool(left) and bool(right)),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "**": lambda left, right: pow(left, right, 1 << 64),
}


class NotComputed(Exception):
    """The expression has no value here; the message says why, as the end of a sentence."""


class Sum:
    """An expression; variables through `lookup`, assignments through `store`. Raises NotComputed."""

    def __init__(self, text: str, lookup: Callable[[str], int], store: Callable[[str, int], None]) -> None:
        self._lookup, self._store, self._tokens = lookup, store, list[str]()
        self._position = self._depth = position = 0
        text = text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None or len(text) > MAX_LENGTH:
                raise NotComputed("it is no arithmetic expression of whole numbers that is followed")
            self._tokens.append(found[1] or found[2] or found[3])
            position = found.end()

    def value(self) -> int:
        """The value of all of it; 0 of nothing. Raises NotComputed."""
        value = self._choice() if self._tokens else 0
        if self._position < len(self._tokens):
            raise NotComputed("it is no arithmetic expression of whole numbers that is followed")
        return value

    def _take(self, *signs: str) -> str:
        sign = self._tokens[self._position] if self._position < len(self._tokens) else ""
        taken = sign != "" and (not signs or sign in signs)
        self._position += taken
        return sign if taken else ""

    def _choice(self) -> int:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        value = self._binary(0)
        if self._take("?"):
            first = self._choice()
            if not self._take(":"):
                raise NotComputed("`?` has no `:`")
            second = self._choice()
            value = first if value else second
        self._depth -= 1
        return value

    def _binary(self, level: int) -> int:
        """Operators of this level and tighter ones."""
        value = self._unary()
        while self._position < len(self._tokens) and _LEVEL.get(self._tokens[self._position], -1) >= level:
            sign = self._take()
            right = self._binary(_LEVEL[sign] + (sign != "**"))
            if (sign in ("/", "%") and not right) or (sign == "**" and right < 0):
                raise NotComputed("it divides by zero" if sign != "**" else "an exponent is negative")
            if sign in ("/", "%"):
                quotient = abs(value) // abs(right) * (1 if (value < 0) == (right < 0) else -1)
                value = _wrapped(quotient if sign == "/" else value - quotient * right)
            else:
                value = _wrapped(_OPERATE[sign](value, right))
        return value

    def _unary(self) -> int:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        sign = self._take("++", "--", "+", "-", "!")
        if sign in ("++", "--"):
            value = self._stepped(self._take(), sign)
        elif sign:
            value = self._unary()
            value = _wrapped(-value) if sign == "-" else int(not value) if sign == "!" else value
        else:
            value = self._operand()
        self._depth -= 1
        return value

    def _operand(self) -> int:
        if self._take("("):
            value = self._choice()
            if not self._take(")"):
                raise NotComputed("a parenthesis is not closed")
            return value
        text = self._take()
        if text.isdecimal():
            return _wrapped(int(text))
        if not text.isidentifier():
            raise NotComputed(f"`{text}` cannot stand there" if text else "it ends too early")
        if sign := self._take("=", "+=", "-="):
            value = self._choice()
            value = value if sign == "=" else _wrapped(self._lookup(text) + (value if sign == "+=" else -value))
            self._store(text, value)
            return value
        if sign := self._take("++", "--"):
            return self._stepped(text, sign) - (1 if sign == "++" else -1)
        return self._lookup(text)

    def _stepped(self, name: str, sign: str) -> int:
        """`++` and `--` of a variable."""
        if not name.isidentifier():
            raise NotComputed(f"`{sign}` has no variable")
        value = _wrapped(self._lookup(name) + (1 if sign == "++" else -1))
        self._store(name, value)
        return value


def _wrapped(value: int) -> int:
    """As a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
