"""Commands in pipelines, chains and lists."""

from __future__ import annotations

from .commands import Chain, Command, List, Pipeline
from .compound import compound
from .cursor import Unreadable
from .simple import SimpleCommands

_RESERVED_ENDS = ("then", "elif", "else", "fi", "do", "done", "esac", "}")


class Parser(SimpleCommands):
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
        self.blanks()
        start = self.position
        self.deeper()
        try:
            if self.ahead("[["):
                return self.condition()
            found = compound(self)
            if found is None:
                return self.simple(start)
            self.redirections()
            return found
        finally:
            self.depth -= 1
