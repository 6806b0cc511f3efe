"""Fields: what an expansion makes of one word, split where bash splits.

Source: the Bash Reference Manual, 3.5.7 (Word Splitting).
"""

from __future__ import annotations

from ..holding.state import TooMuch
from ..holding.value import Piece, Text

MAX_FIELDS = 20_000


class Fields:
    """Collects the words that one word becomes."""

    def __init__(self, separators: str = " \t\n") -> None:
        self._done: list[Text] = []
        self._pieces: list[Piece] = []
        self._begun = False
        self._after_space = False
        self._separators = separators
        self._spaces = "".join(letter for letter in separators if letter in " \t\n")

    def add(self, text: Text) -> None:
        """Text that is not split; with it the field exists, even if it is empty."""
        self._pieces += text.pieces
        self._begun = True

    def vanishing(self, text: Text) -> None:
        """Text that is not split, and makes no field by itself if it is empty."""
        self._pieces += text.pieces
        self._begun = self._begun or bool(text.plain) or not text.known

    def split(self, text: Text) -> None:
        """Text that is split at separators."""
        for piece in text.pieces:
            if piece.unknown or not piece.text:
                self._pieces.append(piece)
                self._begun = self._begun or bool(piece.unknown)
                continue
            start = 0
            for position, letter in enumerate(piece.text):
                if letter in self._separators:
                    self._put(piece, start, position)
                    space = letter in self._spaces
                    if not space and not self._after_space:
                        self._begun = True
                    self._after_space = space and (self._begun or self._after_space)
                    self.next()
                    start = position + 1
            self._put(piece, start, len(piece.text))

    def _put(self, piece: Piece, start: int, end: int) -> None:
        if start < end:
            self._pieces.append(piece.cut(start, end))
            self._begun, self._after_space = True, False

    def next(self) -> None:
        """Ends the field, if there is one. Raises TooMuch."""
        if self._begun:
            if len(self._done) >= MAX_FIELDS:
                raise TooMuch(f"a word becomes more than {MAX_FIELDS:,} words")
            self._done.append(Text(tuple(self._pieces)))
            self._pieces, self._begun = [], False

    def all(self) -> list[Text]:
        """Every field."""
        self.next()
        return self._done
