"""Arithmetic on whole numbers of 64 bits, as in `$((a * 8))`; nothing is evaluated as code.

Source: the Bash Reference Manual, 6.5 (Shell Arithmetic).
"""

from __future__ import annotations

import re
from typing import Callable

MAX_LENGTH = 2_048
MAX_NESTING = 32
_TOKEN = re.compile(
    r"\s*(?:([0-9]+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)"
    r"|(<<=|>>=|\*\*|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|[-+*/%&|^<>=!~?:(),]))",
    re.ASCII,
)
_ORDER = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<=", ">=", "<", ">"), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_LEVEL = {sign: level for level, signs in enumerate(_ORDER) for sign in signs}
_ASSIGNING = ("=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"

Lookup = Callable[[str], int]
Store = Callable[[str, int], None]


class NotComputed(Exception):
    """The expression has no value here; the message says why, as the end of a sentence."""


def compute(text: str, lookup: Lookup, store: Store) -> int:
    """The value of an expression; variables through `lookup`, assignments through `store`. Raises NotComputed."""
    return _Expression(text, lookup, store).whole()


class _Expression:
    def __init__(self, text: str, lookup: Lookup, store: Store) -> None:
        if len(text) > MAX_LENGTH:
            raise NotComputed(f"the expression is longer than {MAX_LENGTH:,} characters")
        self._lookup, self._store, self._tokens = lookup, store, list[str]()
        self._position = self._depth = 0
        position, text = 0, text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise NotComputed("it is no arithmetic expression of whole numbers")
            self._tokens.append(found[1] or found[2] or found[3])
            position = found.end()

    def whole(self) -> int:
        """The value of all of it; 0 of nothing."""
        value = self._comma() if self._tokens else 0
        if self._position < len(self._tokens):
            raise NotComputed("it is no arithmetic expression of whole numbers")
        return value

    @property
    def _next(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _take(self, *signs: str) -> str:
        sign = self._next
        self._position += sign in signs
        return sign if sign in signs else ""

    def _comma(self) -> int:
        value = self._assigned()
        while self._take(","):
            value = self._assigned()
        return value

    def _assigned(self) -> int:
        self._deeper()
        name, after = self._next, self._tokens[self._position + 1 : self._position + 2]
        if name.isidentifier() and after and after[0] in _ASSIGNING:
            self._position += 2
            value = self._assigned()
            if sign := after[0][:-1]:
                value = operate(sign, self._lookup(name), value)
            self._store(name, value)
        else:
            value = self._choice()
        self._depth -= 1
        return value

    def _choice(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        first = self._only_if(bool(condition), self._assigned)
        if not self._take(":"):
            raise NotComputed("`?` has no `:`")
        second = self._only_if(not condition, self._choice)
        return first if condition else second

    def _only_if(self, taken: bool, read: Callable[[], int]) -> int:
        """A part; where it is not taken, its variables do not count and nothing is assigned."""
        if taken:
            return read()
        kept = self._lookup, self._store
        self._lookup, self._store = (lambda name: 1), (lambda name, value: None)
        value = read()
        self._lookup, self._store = kept
        return value

    def _binary(self, level: int) -> int:
        """Operators of this level and tighter ones."""
        value = self._power()
        while (found := _LEVEL.get(self._next, -1)) >= level:
            sign = self._take(self._next)
            if sign in ("&&", "||"):
                decided = bool(value) == (sign == "||")
                right = self._only_if(not decided, lambda: self._binary(found + 1))
                value = int(sign == "||") if decided else int(bool(right))
            else:
                value = operate(sign, value, self._binary(found + 1))
        return value

    def _power(self) -> int:
        value = self._unary()
        if not self._take("**"):
            return value
        self._deeper()
        exponent = self._power()
        self._depth -= 1
        if exponent < 0:
            raise NotComputed("an exponent is negative")
        return wrapped(pow(value, exponent, 1 << 64))

    def _unary(self) -> int:
        self._deeper()
        sign = self._take("++", "--", "+", "-", "!", "~")
        if sign in ("++", "--") and self._next.isidentifier():
            name = self._take(self._next)
            value = wrapped(self._lookup(name) + (1 if sign == "++" else -1))
            self._store(name, value)
        elif sign:
            value = self._unary()
            value = wrapped({"-": -value, "!": int(not value), "~": ~value}.get(sign, value))
        else:
            value = self._operand()
        self._depth -= 1
        return value

    def _operand(self) -> int:
        if self._take("("):
            value = self._comma()
            if not self._take(")"):
                raise NotComputed("a parenthesis is not closed")
            return value
        text = self._take(self._next)
        if not text:
            raise NotComputed("it ends too early")
        if text[0].isdecimal():
            return number(text)
        if not text.isidentifier():
            raise NotComputed(f"`{text}` cannot stand there")
        value = self._lookup(text)
        if sign := self._take("++", "--"):
            self._store(text, wrapped(value + (1 if sign == "++" else -1)))
        return value

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")


def number(text: str) -> int:
    """A number as bash writes it: decimal, 0x, octal with a leading zero, or base#digits. Raises NotComputed."""
    if len(text) > 64:
        raise NotComputed("a number has too many digits")
    base, digits = 10, text
    if "#" in text:
        written, digits = text.split("#", 1)
        base = int(written)
        if not 2 <= base <= 64:
            raise NotComputed(f"`{text}` has no base from 2 to 64")
        digits = digits.lower() if base <= 36 else digits
    elif text[:2] in ("0x", "0X"):
        base, digits = 16, text[2:].lower()
    elif text[:1] == "0":
        base = 8
    value = 0
    for digit in digits:
        position = _DIGITS.find(digit)
        if not 0 <= position < base:
            raise NotComputed(f"`{text}` is no number of base {base}")
        value = value * base + position
    return wrapped(value)


def operate(sign: str, left: int, right: int) -> int:
    """What an operator makes of two numbers. Raises NotComputed for a division by zero."""
    if sign in ("/", "%"):
        if not right:
            raise NotComputed("it divides by zero")
        quotient = abs(left) // abs(right)
        quotient = quotient if (left < 0) == (right < 0) else -quotient
        return wrapped(quotient if sign == "/" else left - quotient * right)
    if sign in ("<<", ">>"):
        return wrapped(left << (right & 63) if sign == "<<" else left >> (right & 63))
    compared = {"==": left == right, "!=": left != right, "<": left < right, ">": left > right}
    compared |= {"<=": left <= right, ">=": left >= right}
    if sign in compared:
        return int(compared[sign])
    results = {"+": left + right, "-": left - right, "*": left * right}
    results |= {"&": left & right, "|": left | right, "^": left ^ right}
    return wrapped(results[sign])


def wrapped(value: int) -> int:
    """As a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
