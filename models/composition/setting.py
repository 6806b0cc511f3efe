"""Parser of one `--set` text, by the grammar of Hydra's overrides.

Source of the grammar: Hydra, hydra/grammar/OverrideParser.g4 and OverrideLexer.g4,
hydra/core/override_parser. The longest token wins; of equally long tokens, the first in `_TOKENS`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable

from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.document import Setting, SettingMark
from ..text.interpolation import Plain, as_scalar
from ..text.source import MAX_DIGITS
from ..text.tree import Entry, ListNode, MapNode, Scalar, Value

__all__ = ["SettingMark", "Setting", "read_setting"]

MAX_LEVELS = 64
WORD = r"[A-Za-z_][A-Za-z0-9_-]*"
NAME = r"[A-Za-z_$][A-Za-z0-9_$-]*"
NATURAL = r"(?:0|[1-9](?:_?[0-9])*)"
_DOTTED = rf"(?:{NAME}|{NATURAL}(?=\.))(?:\.(?:{NAME}|{NATURAL}))*"
_KEY = re.compile(rf"(?P<mark>\+\+|\+|~|)(?P<key>{WORD}(?:/{WORD})+|{_DOTTED}|)(?:@(?P<package>{_DOTTED}|))?(?P<end>=[ \t]*|\Z)", re.ASCII)
_POINTED = rf"(?:{NATURAL}?\.[0-9](?:_?[0-9])*|{NATURAL}\.)"
_TOKENS = {
    name: re.compile(pattern, re.ASCII | re.DOTALL)
    for name, pattern in {
        "(": r"[ \t]*\([ \t]*",
        ",": r"[ \t]*,[ \t]*",
        ")": r"[ \t]*\)",
        "[": r"\[[ \t]*",
        "]": r"[ \t]*\]",
        "{": r"\{[ \t]*",
        "}": r"[ \t]*\}",
        ":": r"[ \t]*:[ \t]*",
        "=": r"[ \t]*=[ \t]*",
        "float": rf"[+-]?(?:(?:{NATURAL}|{_POINTED})[eE][+-]?[0-9](?:_?[0-9])*|{_POINTED}|[Ii][Nn][Ff]|[Nn][Aa][Nn])",
        "int": rf"[+-]?{NATURAL}",
        "bool": r"[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]",
        "null": r"[Nn][Uu][Ll][Ll]",
        "other": r"[/\-\\+.$%*@?|]",
        "word": WORD,
        "escape": r"(?:\\[\\()\[\]{}:=, \t])+",
        "space": r"[ \t]+",
        "quoted": r'"(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)"|' + r"'(?:(?:\\\\)*|.*?[^\\](?:\\\\)*)'",
        "reference": r"\$\{[^}]+\}",
    }.items()
}
MAX_NESTING = 32
_PIECES = {"word", "null", "int", "float", "bool", "reference", "other", ":", "escape", "space"}
_SWEEPS = {"choice", "range", "interval", "glob", "shuffle"}
_CASTS: dict[str, Callable[[int | float | str], Plain]] = {
    "int": int,
    "float": float,
    "str": lambda value: str(value).lower() if isinstance(value, bool) else str(value),
    "bool": lambda value: {"true": True, "false": False}[value.lower()] if isinstance(value, str) else bool(value),
}
"""Casts of a value. Source: Hydra, hydra/_internal/grammar/grammar_functions.py."""


def read_setting(text: str, span: Span) -> Setting:
    """Parse the setting of a text that stands at `span`. Raises UnusableInput (PW012)."""
    head = _KEY.match(text)
    if head is None or (not head["end"] and head["mark"] != SettingMark.DELETE.value):
        start = (
            len(text) if head else next((i for i, letter in enumerate(text) if not (letter.isalnum() or letter in "+~_$.@/-")), len(text))
        )
        raise invalid_setting(
            text, "no `=` follows its key", span.part(start, start + 1), "a setting is `key=value`, `+key=value` or `~key`"
        )
    if head["key"].count(".") >= MAX_LEVELS:
        raise invalid_setting(text, f"its key is nested more than {MAX_LEVELS} levels deep", span, "real keys have about five levels")
    value = None
    if head["end"]:
        tokens = tokens_of(text, head.end(), span)
        value = Values(text, tokens, span).read() if tokens else as_scalar("", span.part(head.end(), head.end()))
    return Setting(
        text, SettingMark(head["mark"]), head["key"], head["package"], value, span, span.part(head.start("key"), head.end("key"))
    )


@dataclass(frozen=True, slots=True)
class Token:
    """Token and its place."""

    kind: str
    text: str
    span: Span


def tokens_of(text: str, position: int, span: Span) -> list[Token]:
    """Tokenize a text from a position on. Raises UnusableInput with a PW012 Finding."""
    tokens: list[Token] = []
    while position < len(text):
        matches = [(name, match.end()) for name, pattern in _TOKENS.items() if (match := pattern.match(text, position))]
        if not matches:
            import unicodedata  # only a mistake needs it

            letter, help_ = text[position], _suggest_quotes(tokens)
            kind = "" if letter.isascii() or letter.isalpha() else f" ({unicodedata.name(letter, hex(ord(letter))).lower()})"
            help_ = "write straight quotes: `'a b'`" if letter in "\u201c\u201d\u201e\u2018\u2019" else help_
            raise invalid_setting(text, f"`{letter}`{kind} must be in quotes", span.part(position, position + 1), help_)
        name, end = max(matches, key=lambda candidate: candidate[1])
        if name == "int" and end - position > MAX_DIGITS:
            raise invalid_setting(
                text, f"a whole number has more than {MAX_DIGITS} digits", span.part(position, end), "write a smaller number"
            )
        tokens.append(Token(name, text[position:end], span.part(position, end)))
        position = end
    return tokens


def _suggest_quotes(tokens: list[Token]) -> str:
    """Return help for an invalid letter after these tokens: quotes around the innermost value."""
    brackets = list[str]()
    for token in tokens:
        if token.kind in ("[", "{"):
            brackets.append(token.kind)
        elif token.kind in ("]", "}") and brackets:
            brackets.pop()
    if not brackets:
        return "put the value in quotes, as in `key='a b'`"
    if brackets[-1] == "{":
        return "put the items of the map in quotes, as in `key={a: 'a b'}`"
    return "put the items of the list in quotes, as in `key=['a b']`"


def invalid_setting(text: str, why: str, span: Span, help_: str, edit: Edit | None = None) -> UnusableInput:
    """Build the exception for a text that is not a setting."""
    return UnusableInput([error("PW012", "", f"`{text[:80]}` cannot be set: {why}", span, label="here", help=help_, edit=edit)])


_OPENERS = {"}": "{", "]": "[", ")": "("}
"""Closing sign -> the sign that opens it."""


class Values:
    """Recursive-descent parser of a value's tokens."""

    def __init__(self, text: str, tokens: list[Token], span: Span) -> None:
        self.text, self.tokens, self.span = text, tokens, span
        self.position = 0

    def read(self) -> Value:
        """Parse the whole value. Raises UnusableInput, also for a sweep."""
        value = self._element(0)
        if self._next() == ",":
            start = self.text.index("=") + 1
            rest = self.text[start:]
            quoted_text = f'"{rest}"' if "'" in rest else f"'{rest}'"
            help_ = f"write `{self.text[:start]}{quoted_text}` for a text, or `[{rest}]` for a list"
            edit = Edit(self.span.part(start, len(self.text)), quoted_text) if '"' not in rest or "'" not in rest else None
            if rest.replace(",", "").strip().isdecimal():  # numbers are no text
                help_, edit = f"write one of the values, or `[{rest}]` for a list", None
            why = "a sweep, which Hydra refuses without `--multirun`"
            raise invalid_setting(self.text, why, self.tokens[self.position].span, help_, edit)
        if self.position < len(self.tokens):
            raise self._build_error()
        return value

    def _next(self) -> str:
        return self.tokens[self.position].kind if self.position < len(self.tokens) else ""

    def _take(self, kind: str) -> Token:
        if self._next() != kind:
            raise self._build_error()
        self.position += 1
        return self.tokens[self.position - 1]

    def _build_error(self) -> UnusableInput:
        at_end = self.position >= len(self.tokens)
        span = self.span.part(len(self.text), len(self.text) + 1) if at_end else self.tokens[self.position].span
        sign = "" if at_end else self.tokens[self.position].text.strip()
        why = "it ends too early" if at_end else f"`{sign}` is not allowed here"
        is_stray = sign in _OPENERS and _OPENERS[sign] not in self.text
        help_ = f"take the `{sign}` out" if is_stray else "put a text with such letters in quotes, as in `key='a=b'`"
        return invalid_setting(self.text, why, span, help_)

    def _element(self, depth: int) -> Value:
        kind = self._next()
        if depth > MAX_NESTING:
            raise invalid_setting(self.text, f"it is nested more than {MAX_NESTING} levels deep", self.span, "write it into a file")
        if kind == "[":
            return self._list(depth)
        if kind == "{":
            return self._map(depth)
        if kind == "word" and self.position + 1 < len(self.tokens) and self.tokens[self.position + 1].kind == "(":
            return self._cast(depth)
        if kind == "quoted":
            token = self._take(kind)
            quote, inner = token.text[0], token.text[1:-1]  # backslashes escape only before a quote
            text = re.sub(rf"(\\+)(?={quote}|\Z)", lambda match: "\\" * (len(match[1]) // 2), inner)
            return as_scalar(text, token.span)
        return self._primitive(_PIECES)

    def _list(self, depth: int) -> ListNode:
        start, items = self._take("[").span, list[Value]()
        while self._next() != "]":
            if items:
                self._take(",")
            items.append(self._element(depth + 1))
        return ListNode(tuple(items), _join(start, self._take("]").span))

    def _map(self, depth: int) -> MapNode:
        start, entries = self._take("{").span, dict[str, Entry]()
        while self._next() != "}":
            if entries:
                self._take(",")
            key = self._primitive(_PIECES - {":", "reference"})
            self._take(":")
            entries[key.text] = Entry(key, self._element(depth + 1))
        return MapNode(tuple(entries.values()), _join(start, self._take("}").span), flow=True)

    def _cast(self, depth: int) -> Value:
        """Return the value of a call such as `int(8)`. Raises UnusableInput for other functions."""
        name, start = self._take("word"), self.text.index("=") + 1
        if name.text in _SWEEPS:
            why = f"`{name.text}` sweeps over values, which Hydra refuses without `--multirun`"
            raise invalid_setting(self.text, why, name.span, "write one value")
        quoted_text = f"'{self.text[start:]}'" if "'" not in self.text else f'"{self.text[start:]}"'
        help_ = f"write its result, or `{self.text[:start]}{quoted_text}` for a text"
        if name.text not in _CASTS:
            raise invalid_setting(self.text, f"`{name.text}` is not computed here", name.span, help_)
        self._take("(")
        value = self._element(depth + 1)
        self._take(")")
        try:
            return _convert(value, _CASTS[name.text])
        except (KeyError, OverflowError, TypeError, ValueError) as problem:
            raise invalid_setting(self.text, f"Hydra cannot take `{name.text}` of it", name.span, help_) from problem

    def _primitive(self, pieces: set[str]) -> Scalar:
        tokens = []
        while self._next() in pieces:
            tokens.append(self.tokens[self.position])
            self.position += 1
        while tokens and tokens[0].kind == "space":
            tokens = tokens[1:]
        while tokens and tokens[-1].kind == "space":
            tokens = tokens[:-1]
        if not tokens:
            raise self._build_error()
        span = _join(tokens[0].span, tokens[-1].span)
        if len(tokens) == 1:
            return as_scalar(_plain(tokens[0]), span)
        return as_scalar("".join(token.text[1::2] if token.kind == "escape" else token.text for token in tokens), span)


def _convert(value: Value, cast: Callable[[int | float | str], Plain]) -> Value:
    """Apply a cast to a value, or to each item of it."""
    if isinstance(value, ListNode):
        return replace(value, items=tuple(_convert(item, cast) for item in value.items))
    if isinstance(value, MapNode):
        return replace(value, entries=tuple(replace(entry, value=_convert(entry.value, cast)) for entry in value))
    plain = value.value
    if plain is None:
        raise TypeError("nothing has no cast")
    return as_scalar(cast(plain if isinstance(plain, (bool, int, float)) else value.text), value.span)


def _plain(token: Token) -> Plain:
    if token.kind == "int":
        return int(token.text)
    if token.kind == "float":
        return float(token.text)
    if token.kind == "bool":
        return token.text.lower() == "true"
    if token.kind == "null":
        return None
    return token.text[1::2] if token.kind == "escape" else token.text


def _join(start: Span, end: Span) -> Span:
    return start.part(0, end.end - start.start)
