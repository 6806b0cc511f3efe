"""A position in a script, and what is skipped between words: blanks, continued lines, comments, here-documents."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_DEPTH = 48
MAX_WORDS = 100_000


class Unreadable(Exception):
    """The text is not a script, from this place on; the message is a sentence for a person. `limit`: it is only too large."""

    def __init__(self, message: str, position: int, limit: bool = False) -> None:
        self.position, self.limit = position, limit
        super().__init__(message)


@dataclass
class Cursor:
    """Where reading is.

    Attributes
    ----------
    comment : the comment that was skipped last, if a continued line led to it.
    documents : here-documents that begin on the next line: their end marks, and whether tabs before them count.
    """

    text: str
    position: int = 0
    depth: int = 0
    words: int = 0
    comment: tuple[int, int] | None = None
    documents: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def letter(self) -> str:
        """The next character; "" at the end."""
        return self.text[self.position : self.position + 1]

    def at(self, text: str) -> bool:
        """Does this text come next?"""
        return self.text.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Goes past this text if it comes next."""
        if self.at(text):
            self.position += len(text)
            return True
        return False

    def deeper(self) -> None:
        """One level down. Raises Unreadable where there are too many."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"commands or expansions are nested more than {MAX_DEPTH} levels deep", self.position, limit=True)

    def blanks(self) -> None:
        """Goes past blanks, continued lines and a comment."""
        continued = False
        while self.position < len(self.text):
            if self.letter in " \t":
                self.position += 1
            elif self.at("\\\n"):
                self.position += 2
                continued = True
            elif self.letter == "#":
                start, end = self.position, self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
                if continued or self._after_blank_escape(start):
                    self.comment = (start, self.position)
                return
            else:
                return

    def _after_blank_escape(self, position: int) -> bool:
        """Is the last thing before it on its line a backslash that was to continue the line?"""
        return self.text[max(0, position - 80) : position].rstrip(" \t").endswith("\\")

    def newlines(self) -> None:
        """Goes past blanks and ends of lines."""
        self.blanks()
        while self.letter == "\n":
            self.end_line()
            self.blanks()

    def end_line(self) -> None:
        """Goes past the end of a line, and past the here-documents that begin after it."""
        self.position += 1
        pending, self.documents = self.documents, []
        for mark, tabs in pending:
            while self.position < len(self.text):
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == mark:
                    break
