"""Words: quotes, escapes and expansions between them, read and not carried out."""

from __future__ import annotations

from .cursor import MAX_WORDS, Unreadable
from .expansions import TILDE, Expansions
from .parts import Literal, Part, Tilde, Word

_ENDS = " \t\n;&|<>()"


class Words(Expansions):
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
                self.substitution(parts, self.position, 2, False)
            elif self.letter in ends:
                break
            elif first and (tilde := TILDE.match(self.text, self.position)):
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
