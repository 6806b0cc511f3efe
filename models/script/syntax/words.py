"""Words: quotes, escapes and expansions, read and not carried out."""

from __future__ import annotations

import re

from .closed import Closed
from .cursor import MAX_WORDS, Unreadable
from .parts import Arithmetic, Literal, Parameter, Part, Substitution, Tilde, Word

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SPECIAL = "@*#?$!-"
_ENDS = " \t\n;&|<>()"
_OPERATORS = (":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%", "/", "^", ",", ":", "@")
_PATTERNS = ("#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,")
_TILDE = re.compile(r"~[+-]?(?=[/:\s;&|<>()}]|\Z)")  # `~name` is left: Hydra writes `~key`, and few scripts name a user


class Words(Closed):
    """Reads words from where it is."""

    def word(self, ends: str = _ENDS, assigned: bool = False) -> Word:
        """The word that begins here, up to an unquoted character of `ends`; in an assigned one `~` may follow a colon. Raises Unreadable."""
        self.words += 1
        if self.words > MAX_WORDS:
            raise Unreadable(f"the script has more than {MAX_WORDS:,} words", self.position, limit=True)
        start, parts = self.position, list[Part]()
        while self.position < len(self.text):
            first = self.position == start or (assigned and self.text[self.position - 1] == ":")
            if self.letter in "<>" and self.text[self.position + 1 : self.position + 2] == "(" and self.letter in ends:
                self._substitution(parts, self.position, 2, False)
            elif self.letter in ends:
                break
            elif first and (tilde := _TILDE.match(self.text, self.position)):
                parts.append(Tilde((self.position, tilde.end())))
                self.position = tilde.end()
            else:
                self.piece(parts, ends)
        return Word(tuple(parts), (start, self.position))

    def piece(self, parts: list[Part], ends: str) -> None:
        """One part of a word outside of double quotes."""
        letter, start = self.letter, self.position
        if letter == "\\":
            if start + 1 == len(self.text):  # at the end of a script there is nothing to go on with
                self.position += 1
            elif not self.take("\\\n"):
                self.position += 2
                parts.append(Literal(self.text[start + 1], (start, self.position), quoted=True, exact=False))
        elif letter == "'":
            end = self.find("'", start + 1, "a single quote is not closed")
            parts.append(Literal(self.text[start + 1 : end], (start + 1, end), quoted=True))
            self.position = end + 1
        elif letter == '"' or self.at('$"'):
            self.position += 1 if letter == '"' else 2
            inner = self.double_quoted('"', start)
            parts += inner or [Literal("", (start, self.position), quoted=True)]
        elif self.at("$'"):
            parts.append(self.ansi())
        elif letter in "$`":
            self.expansion(parts, False)
        else:
            end = start + 1
            while end < len(self.text) and self.text[end] not in ends and self.text[end] not in "\\'\"$`" and self.text[end - 1] != ":":
                end += 1
            parts.append(Literal(self.text[start:end], (start, end)))
            self.position = end

    def double_quoted(self, end: str, opened: int) -> list[Part]:
        """The parts up to an unescaped `end`, which is gone past; everything in them is quoted."""
        parts: list[Part] = []
        while True:
            start = self.position
            if start >= len(self.text):
                raise Unreadable(f"what is opened by `{self.text[opened : opened + 2].strip()}` is not closed", opened)
            if self.take(end):
                return parts
            if self.letter == "\\":
                following = self.text[start + 1 : start + 2]
                if following == "\n":
                    self.position += 2
                elif following and following in '$`"\\' + end:
                    self.position += 2
                    parts.append(Literal(following, (start, start + 2), quoted=True, exact=False))
                else:
                    self.position += 1
                    parts.append(Literal("\\", (start, start + 1), quoted=True))
            elif self.letter in "$`":
                self.expansion(parts, True)
            elif self.letter == '"':  # quotes within the argument of an expansion that is itself quoted
                self.position += 1
                parts += self.double_quoted('"', start)
            else:
                stop = start
                while stop < len(self.text) and self.text[stop] not in '\\$`"' + end:
                    stop += 1
                parts.append(Literal(self.text[start:stop], (start, stop), quoted=True))
                self.position = stop

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
            self._substitution(parts, start, 2, quoted)
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
        if not quoted and (tilde := _TILDE.match(self.text, self.position)):
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

    def _substitution(self, parts: list[Part], start: int, opening: int, quoted: bool) -> None:
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
                inner = Words(text, position + 1, self.depth)
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
