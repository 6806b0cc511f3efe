"""Expansions: what begins with `$` or a backtick, read and not carried out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from .closed import Closed
from .cursor import Unreadable
from .parts import Arithmetic, Literal, Parameter, Part, Substitution, Tilde

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
TILDE = re.compile(r"~[+-]?(?=[/:\s;&|<>()}]|\Z)")  # `~name` is left: Hydra writes `~key`, and few scripts name a user
_SPECIAL = "@*#?$!-"
_OPERATORS = (":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%", "/", "^", ",", ":", "@")
_PATTERNS = ("#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,")


class Expansions(Closed, ABC):
    """Reads expansions, whose arguments are parts of words."""

    @abstractmethod
    def piece(self, parts: list[Part], ends: str) -> None:
        """One part of a word outside of double quotes."""

    @abstractmethod
    def double_quoted(self, end: str, opened: int) -> list[Part]:
        """The parts up to an unescaped `end`, which is gone past; everything in them is quoted."""

    def expansion(self, parts: list[Part], quoted: bool) -> None:
        """What begins with `$` or a backtick."""
        start = self.position
        self.deeper()
        if self.at("$((") and (end := self.arithmetic_end(start + 3)) is not None:
            self.position += 3
            inner = self.until(end)
            self.position = end + 2
            parts.append(Arithmetic(inner, (start, self.position), quoted))
        elif self.at("$("):
            self.substitution(parts, start, 2, quoted)
        elif self.letter == "`":
            end = start + 1
            while self.text[end : end + 1] not in ("`", ""):
                end += 2 if self.text[end] == "\\" else 1
            if end >= len(self.text):
                raise Unreadable("a backtick is not closed", start)
            self.position = end + 1
            parts.append(Substitution((start, self.position), quoted))
        elif self.at("${"):
            self.position += 2
            parts.append(self._braced(start, quoted))
        elif self.at("$["):
            self.position = self.find("]", start, "`$[` is not closed") + 1
            parts.append(Substitution((start, self.position), quoted))
        elif found := NAME.match(self.text, start + 1):
            self.position = found.end()
            parts.append(Parameter(found[0], (start, self.position), quoted))
        elif (following := self.text[start + 1 : start + 2]) and (following in _SPECIAL or (following.isdecimal() and following.isascii())):
            self.position += 2
            parts.append(Parameter(following, (start, self.position), quoted))
        else:
            self.position += 1
            parts.append(Literal("$", (start, self.position), quoted))
        self.depth -= 1

    def _braced(self, start: int, quoted: bool) -> Parameter:
        """`${...}` after its brace."""
        length = self.letter == "#" and self.text[self.position + 1 : self.position + 2] not in ("}", "")
        indirect = self.letter == "!" and self.text[self.position + 1 : self.position + 2] != "}"
        self.position += length or indirect
        found = NAME.match(self.text, self.position) or re.compile(r"[0-9]+|[@*#?$!-]").match(self.text, self.position)
        if found is None:
            return self._not_understood(start, quoted)
        name, index = found[0], None
        self.position = found.end()
        if self.letter == "[":
            self.position += 1
            index = self._subscript()
        operator = next((each for each in _OPERATORS if self.at(each)), "") if self.letter != "}" else ""
        self.position += len(operator)
        arguments = []
        if operator:
            pattern = operator in _PATTERNS
            ends = "}/" if operator.startswith("/") else "}:" if operator == ":" else "}"
            arguments.append(self.argument(ends, quoted and not pattern))
            if self.letter in ends[1:]:
                self.position += 1
                arguments.append(self.argument("}", quoted and not pattern))
        if not self.take("}"):
            return self._not_understood(start, quoted)
        place = (start, self.position)
        return Parameter(name, place, quoted, index, operator, tuple(arguments), length, indirect, bad=operator == "@")

    def argument(self, ends: str, quoted: bool) -> tuple[Part, ...]:
        """What stands in the braces or brackets of an expansion, up to a character of `ends`; `quoted` if the expansion is."""
        parts: list[Part] = []
        if not quoted and (tilde := TILDE.match(self.text, self.position)):
            parts.append(Tilde((self.position, tilde.end())))
            self.position = tilde.end()
        while self.letter not in (*ends, ""):
            start = self.position
            if not quoted:
                self.piece(parts, ends)
            elif self.letter in "$`":
                self.expansion(parts, True)
            elif self.letter == '"':
                self.position += 1
                parts += self.double_quoted('"', start)
            elif self.letter == "\\" and self.text[start + 1 : start + 2] in ("$", "`", '"', "\\", "}"):
                self.position += 2
                parts.append(Literal(self.text[start + 1], (start, start + 2), True, exact=False))
            elif not self.take("\\\n"):
                self.position += 1
                parts.append(Literal(self.text[start], (start, start + 1), True))
        return tuple(parts)

    def _subscript(self) -> str | tuple[Part, ...]:
        for special in "@*":
            if self.take(special + "]"):
                return special
        parts = self.argument("]", False)
        if not self.take("]"):
            raise Unreadable("`[` is not closed", self.position)
        return parts

    def _not_understood(self, start: int, quoted: bool) -> Parameter:
        depth, end = 1, start + 2
        while end < len(self.text) and depth:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        if depth:
            raise Unreadable("`${` is not closed by `}`", start)
        self.position = end
        return Parameter("", (start, end), quoted, bad=True)

    def until(self, end: int) -> tuple[Part, ...]:
        """The parts of an arithmetic expression up to an offset."""
        parts: list[Part] = []
        while self.position < end:
            start = self.position
            if self.letter in "$`":
                self.expansion(parts, True)
            elif self.take("\\\n") or self.take('"'):
                continue
            else:
                stop = start + 1
                while stop < end and self.text[stop] not in '$`\\"':
                    stop += 1
                parts.append(Literal(self.text[start:stop], (start, stop), True))
                self.position = stop
        return tuple(parts)

    def substitution(self, parts: list[Part], start: int, opening: int, quoted: bool) -> None:
        """A command in parentheses: its end is looked for, with quotes and comments minded."""
        depth, position, text = 1, start + opening, self.text
        while depth:
            letter = text[position : position + 1]
            if not letter:
                raise Unreadable(f"`{text[start : start + opening]}` is not closed by `)`", start)
            if letter == "\\":
                position += 1
            elif letter == "'":
                position = self.find("'", position + 1, "a single quote is not closed")
            elif letter == '"':
                inner = type(self)(text, position + 1, self.depth)
                inner.deeper()
                inner.double_quoted('"', position)
                position = inner.position - 1
            elif letter == "#" and text[position - 1] in " \t\n;(":
                end = text.find("\n", position)
                position = end - 1 if end >= 0 else len(text) - 1
            elif letter in "()":
                depth += 1 if letter == "(" else -1
            position += 1
        self.position = position
        parts.append(Substitution((start, position), quoted))
