"""Reserved words: what begins, parts and ends commands."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .commands import Command, List
from .cursor import Unreadable
from .expansions import NAME
from .parts import Place
from .words import Words

_WORD_ENDS = " \t\n;&|<>()"


class Reserved(Words, ABC):
    """Reads reserved words; the commands between them are read by whatever derives from it."""

    @abstractmethod
    def list(self, *ends: str) -> List:
        """Statements up to one of the reserved words or signs of `ends`, which is not gone past."""

    @abstractmethod
    def command(self) -> Command:
        """One command, simple or one that holds others."""

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
