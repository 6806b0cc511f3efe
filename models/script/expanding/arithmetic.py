"""Arithmetic on whole numbers of 64 bits, as in `$((a * 8))`. A small grammar of its own; nothing is evaluated as code.

Source: the Bash Reference Manual, 6.5 (Shell Arithmetic).
"""

from __future__ import annotations

import re
from typing import Callable

from .integers import NotComputed, number, operate, wrapped

MAX_LENGTH = 2_048
MAX_NESTING = 32
_TOKEN = re.compile(
    r"\s*(?:([0-9]+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)"
    r"|(<<=|>>=|\*\*|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|[-+*/%&|^<>=!~?:(),\[\]]))",
    re.ASCII,
)
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<=", ">=", "<", ">"), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_ASSIGNING = ("=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=")


Lookup = Callable[[str], int]
Store = Callable[[str, int], None]


def compute(text: str, lookup: Lookup, store: Store | None = None) -> int:
    """The value of an expression; variables through `lookup`, assignments through `store`. Raises NotComputed."""
    return _Expression(text, lookup, store).whole()


class _Expression:
    def __init__(self, text: str, lookup: Lookup, store: Store | None) -> None:
        if len(text) > MAX_LENGTH:
            raise NotComputed(f"the expression is longer than {MAX_LENGTH:,} characters")
        self._lookup, self._store = lookup, store
        self._tokens: list[tuple[str, str]] = []
        position, text = 0, text.rstrip()
        while position < len(text):
            found = _TOKEN.match(text, position)
            if found is None:
                raise NotComputed("it is no arithmetic expression of whole numbers")
            kind = "number" if found[1] else "name" if found[2] else "sign"
            self._tokens.append((kind, found[1] or found[2] or found[3]))
            position = found.end()
        self._position = self._depth = 0

    def whole(self) -> int:
        """The value of all of it; 0 of nothing."""
        if not self._tokens:
            return 0
        value = self._comma()
        if self._position < len(self._tokens):
            raise NotComputed("it is no arithmetic expression of whole numbers")
        return value

    def _next(self) -> str:
        return self._tokens[self._position][1] if self._position < len(self._tokens) else ""

    def _take(self, *signs: str) -> str:
        if self._position < len(self._tokens) and self._tokens[self._position][0] == "sign" and self._next() in signs:
            self._position += 1
            return self._tokens[self._position - 1][1]
        return ""

    def _comma(self) -> int:
        value = self._assigned()
        while self._take(","):
            value = self._assigned()
        return value

    def _assigned(self) -> int:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        start = self._position
        kind, name = self._tokens[start] if start < len(self._tokens) else ("", "")
        if kind == "name" and start + 1 < len(self._tokens) and self._tokens[start + 1] in {("sign", sign) for sign in _ASSIGNING}:
            self._position += 2
            sign, value = self._tokens[start + 1][1][:-1], self._assigned()
            value = operate(sign, self._lookup(name), value) if sign else value
            self._set(name, value)
        else:
            value = self._choice()
        self._depth -= 1
        return value

    def _choice(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        store = self._store
        self._store = store if condition else _ignored
        yes = self._assigned()
        if not self._take(":"):
            raise NotComputed("`?` has no `:`")
        self._store = store if not condition else _ignored
        no = self._choice()
        self._store = store
        return yes if condition else no

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._power()
        value = self._binary(level + 1)
        while sign := self._take(*_LEVELS[level]):
            short = (sign == "&&" and not value) or (sign == "||" and value != 0)
            if short:
                store, self._store = self._store, _ignored
                self._lookup, lookup = (lambda name: 1), self._lookup
                self._binary(level + 1)
                self._store, self._lookup = store, lookup
                value = int(sign == "||")
            else:
                value = operate(sign, value, self._binary(level + 1))
        return value

    def _power(self) -> int:
        value = self._unary()
        if not self._take("**"):
            return value
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        exponent = self._power()
        self._depth -= 1
        if exponent < 0:
            raise NotComputed("an exponent is negative")
        return wrapped(pow(value, exponent, 1 << 64))

    def _unary(self) -> int:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NotComputed("the expression is nested too deeply")
        sign = self._take("++", "--", "+", "-", "!", "~")
        if sign in ("++", "--"):
            kind, name = self._tokens[self._position] if self._position < len(self._tokens) else ("", "")
            if kind == "name":
                self._position += 1
                value = wrapped(self._lookup(name) + (1 if sign == "++" else -1))
                self._set(name, value)
            else:
                value = self._unary()
        elif sign:
            value = self._unary()
            value = wrapped({"+": value, "-": -value, "!": int(not value), "~": ~value}[sign])
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
        if self._position >= len(self._tokens):
            raise NotComputed("it ends too early")
        kind, text = self._tokens[self._position]
        self._position += 1
        if kind == "number":
            return number(text)
        if kind == "sign":
            raise NotComputed(f"`{text}` cannot stand there")
        if self._next() == "[":
            raise NotComputed("elements of arrays are not followed in arithmetic")
        value = self._lookup(text)
        if sign := self._take("++", "--"):
            self._set(text, wrapped(value + (1 if sign == "++" else -1)))
        return value

    def _set(self, name: str, value: int) -> None:
        if self._store is None:
            raise NotComputed("it changes a variable where that is not followed")
        self._store(name, value)


def _ignored(name: str, value: int) -> None:
    """An assignment in the half of a choice that is not taken."""
