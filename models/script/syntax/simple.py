"""Simple commands: assignments, words and redirections; and conditions in `[[ ]]`."""

from __future__ import annotations

import re
from typing import Union

from .commands import Assignment, Condition, Item, Simple
from .cursor import Unreadable
from .parts import Literal, Part, Word
from .reserved import Reserved

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)", re.ASCII)
_REDIRECTION = re.compile(r"(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())", re.ASCII)
_DECLARING = ("export", "declare", "typeset", "local", "readonly")


class SimpleCommands(Reserved):
    """Reads commands that hold no others."""

    def simple(self, start: int) -> Simple:
        """The command of words that began at `start`. Raises Unreadable."""
        assignments, words = list[Assignment](), list[Union[Word, Assignment]]()
        declaring = False
        end, self.comment = start, None
        while True:
            self.blanks()
            if self._redirection():
                end = self.position
                continue
            if self.letter in ("", "\n", ";", "&", "|", ")"):
                break
            if self.letter == "(":
                raise Unreadable("`(` cannot stand here", self.position)
            assigned = self._assignment() if not words or declaring else None
            if assigned is not None and not words:
                assignments.append(assigned)
            elif assigned is not None:
                words.append(assigned)
            else:
                word = self.word()
                words.append(word)
                declaring = declaring or (len(words) == 1 and word.plain in _DECLARING)
            end = self.position
        if not assignments and not words and end == start:
            raise Unreadable(f"`{self.letter or 'the end'}` cannot stand here", start)
        return Simple(tuple(assignments), tuple(words), (start, end), self.comment)

    def _assignment(self) -> Assignment | None:
        """`NAME=...` if that comes next."""
        start, found = self.position, _ASSIGNED.match(self.text, self.position)
        if found is None:
            return None
        index: Word | None = None
        self.position = found.end()
        if found[2] == "[":
            parts = self.argument("]", False)
            index = Word(parts, (found.end(), self.position))
            if not self.take("]") or not (self.take("=") or self.take("+=")):
                self.position = start
                return None
        append = self.text[self.position - 2] == "+"
        if index is None and self.take("("):
            return Assignment(found[1], self._items(), (start, self.position), append)
        return Assignment(found[1], self.word(assigned=True), (start, self.position), append, index)

    def _items(self) -> tuple[Item, ...]:
        """The elements of an array, up to its `)`."""
        items, opened = list[Item](), self.position - 1
        while True:
            self.newlines()
            if self.position >= len(self.text):
                raise Unreadable("`(` of an array is not closed by `)`", opened)
            if self.take(")"):
                return tuple(items)
            if self.letter in "&;|<>(" and not self.at("<(") and not self.at(">("):
                raise Unreadable(f"`{self.letter}` cannot stand in an array", self.position)
            start, key = self.position, None
            if self.take("["):
                parts = self.argument("]\n", False)
                key = Word(parts, (start + 1, self.position))
                if not self.take("]="):
                    self.position, key = start, None
            items.append(Item(self.word(), key))

    def redirections(self) -> None:
        """Goes past all that come next."""
        self.blanks()
        while self._redirection():
            self.blanks()

    def _redirection(self) -> bool:
        """Goes past a redirection if one comes next."""
        found = _REDIRECTION.match(self.text, self.position)
        if found is None:
            return False
        self.position = found.end()
        self.blanks()
        if self.letter in ("", "\n", ";", "&", "|"):
            raise Unreadable(f"`{found[1]}` says no file", found.start())
        word = self.word()
        if found[1] in ("<<", "<<-"):
            mark = "".join(getattr(part, "text", self.text[part.place[0] : part.place[1]]) for part in word.parts)
            self.documents.append((mark, found[1] == "<<-"))
        return True

    def condition(self) -> Condition:
        """The command `[[ ... ]]`: operators are words too."""
        start, words = self.position, list[Word]()
        self.position += 2
        matching = False
        while True:
            self.newlines()
            if self.position >= len(self.text):
                raise Unreadable("`[[` is not closed by `]]`", start)
            if self.reserved("]]"):
                self.redirections()
                return Condition(tuple(words), (start, self.position))
            word = self._regular() if matching else self._operator() or self.word()
            matching = word.plain == "=~"
            if word.place[0] == word.place[1]:
                raise Unreadable(f"`{self.letter}` cannot stand in `[[ ]]`", self.position)
            words.append(word)

    def _operator(self) -> Word | None:
        for operator in ("&&", "||", "(", ")", "<", ">"):
            start = self.position
            if not self.at("<(") and not self.at(">(") and self.take(operator):
                return Word((Literal(operator, (start, self.position)),), (start, self.position))
        return None

    def _regular(self) -> Word:
        """A regular expression, in which parentheses and bars stand for themselves."""
        start, parts, depth = self.position, list[Part](), 0
        while self.position < len(self.text) and (depth or self.letter not in " \t\n"):
            depth += {"(": 1, ")": -1}.get(self.letter, 0)
            self.piece(parts, " \t\n()")
        return Word(tuple(parts), (start, self.position))
