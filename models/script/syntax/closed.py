"""What is closed by a sign of its own: where that is, and quotes in which no expansion counts."""

from __future__ import annotations

import re

from .cursor import Cursor, Unreadable
from .parts import Literal

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")


class Closed(Cursor):
    """Finds what closes something, whatever expansions stand before it."""

    def find(self, letter: str, start: int, problem: str) -> int:
        """Where the next such letter is. Raises Unreadable with this problem if there is none."""
        end = self.text.find(letter, start)
        if end < 0:
            raise Unreadable(problem, start - 1)
        return end

    def arithmetic_end(self, start: int) -> int | None:
        """Where the `))` is that closes an arithmetic expression; None where it is a command in two parentheses."""
        depth, position = 0, start
        while position < len(self.text):
            letter = self.text[position]
            if letter == "(":
                depth += 1
            elif letter == ")":
                if not depth:
                    return position if self.text.startswith("))", position) else None
                depth -= 1
            elif letter == "\\":
                position += 1
            elif letter == "'":
                return None
            position += 1
        return None

    def ansi(self) -> Literal:
        """`$'...'`, with the escapes of C."""
        start, text, position = self.position, "", self.position + 2
        while True:
            letter = self.text[position : position + 1]
            if not letter:
                raise Unreadable("`$'` is not closed", start)
            position += 1
            if letter == "'":
                break
            if letter == "\\":
                following = self.text[position : position + 1]
                if code := _CODE.match(self.text, position):
                    number = int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3], 16)
                    text, position = text + (chr(number) if number < 0x110000 else ""), code.end()
                    continue
                text += _ESCAPES.get(following, following if following in "\\'\"?" else "\\" + following)
                position += 1
            else:
                text += letter
        self.position = position
        return Literal(text, (start, position), quoted=True, exact=False)
