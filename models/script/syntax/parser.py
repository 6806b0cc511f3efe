"""Commands: lists, pipelines and simple commands."""

from __future__ import annotations

import re
from typing import Union

from .commands import Assignment, Chain, Command, Condition, Item, List, Pipeline, Simple
from .cursor import Unreadable
from .parts import Part, Place, Word
from .words import NAME, Words

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)", re.ASCII)
_REDIRECTION = re.compile(r"(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())", re.ASCII)
_RESERVED_ENDS = ("then", "elif", "else", "fi", "do", "done", "esac", "}")
_DECLARING = ("export", "declare", "typeset", "local", "readonly")
_WORD_ENDS = " \t\n;&|<>()"


class Parser(Words):
    """Reads a whole script, statement by statement."""

    def statement(self) -> Chain | None:
        """The next statement at the top of the script, as bash reads it before it carries it out; None at the end. Raises Unreadable."""
        self.newlines()
        while self.take(";"):
            self.newlines()
        if self.position >= len(self.text):
            return None
        return self._chain()

    def list(self, *ends: str) -> List:
        """Statements up to one of the reserved words or signs of `ends`, which is not gone past."""
        self.deeper()
        found: list[Chain] = []
        while True:
            self.newlines()
            if self.position >= len(self.text):
                raise Unreadable(f"`{ends[-1]}` is missing", self.position)
            if self.ahead(*ends):
                self.depth -= 1
                return tuple(found)
            found.append(self._chain())

    def _chain(self) -> Chain:
        first, others = self._pipeline(), list[tuple[str, Pipeline]]()
        while True:
            self.blanks()
            operator = next((each for each in ("&&", "||") if self.take(each)), "")
            if not operator:
                break
            self.newlines()
            others.append((operator, self._pipeline()))
        background = self.at("&")
        if not (background and self.take("&")) and self.letter == ";" and not self.at(";;") and not self.at(";&"):
            self.position += 1
        elif not background and self.letter not in ("\n", ")", "", ";") and not self.ahead(*_RESERVED_ENDS):
            raise Unreadable(f"`{self.text[self.position : self.position + 8].split()[0]}` cannot stand here", self.position)
        return Chain(first, tuple(others), background)

    def _pipeline(self) -> Pipeline:
        self.blanks()
        negated = False
        while self.reserved("!") or self.reserved("time"):
            negated ^= self.text[self.position - 1] == "!"
            self.blanks()
            self.take("-p ")
            self.blanks()
        commands = [self.command()]
        self.blanks()
        while self.at("|") and not self.at("||"):
            self.position += 2 if self.at("|&") else 1
            self.newlines()
            commands.append(self.command())
            self.blanks()
        return Pipeline(tuple(commands), negated)

    def command(self) -> Command:
        """One command, simple or one that holds others."""
        from .compound import compound

        self.blanks()
        start = self.position
        self.deeper()
        try:
            if self.ahead("[["):
                return self._condition()
            found = compound(self)
            if found is None:
                return self._simple(start)
            self._redirections()
            return found
        finally:
            self.depth -= 1

    def _simple(self, start: int) -> Simple:
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

    def _redirections(self) -> None:
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

    def _condition(self) -> Condition:
        """`[[ ... ]]`: operators are words too."""
        start, words = self.position, list[Word]()
        self.position += 2
        matching = False
        while True:
            self.newlines()
            if self.position >= len(self.text):
                raise Unreadable("`[[` is not closed by `]]`", start)
            if self.reserved("]]"):
                self._redirections()
                return Condition(tuple(words), (start, self.position))
            word = self._regular() if matching else self._operator() or self.word()
            matching = word.plain == "=~"
            if word.place[0] == word.place[1]:
                raise Unreadable(f"`{self.letter}` cannot stand in `[[ ]]`", self.position)
            words.append(word)

    def _operator(self) -> Word | None:
        from .parts import Literal

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

    def ahead(self, *names: str) -> bool:
        """Does one of these reserved words or signs come next?"""
        for name in names:
            end = self.position + len(name)
            if self.at(name) and (name in (")", ";;", ";&", "((") or self.text[end : end + 1] in ("", *_WORD_ENDS)):
                return True
        return False

    def reserved(self, name: str) -> bool:
        """Goes past a reserved word if it comes next."""
        if self.ahead(name):
            self.position += len(name)
            return True
        return False

    def expect(self, name: str, opened: Place) -> None:
        """Goes past a reserved word that must come next."""
        self.newlines()
        if not self.reserved(name):
            raise Unreadable(f"`{self.text[opened[0] : opened[1]]}` is not closed by `{name}`", opened[0])

    def name(self) -> str:
        """A name that must come next."""
        self.blanks()
        found = NAME.match(self.text, self.position)
        if found is None:
            raise Unreadable("a name must stand here", self.position)
        self.position = found.end()
        return found[0]
