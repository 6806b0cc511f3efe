"""Text of a script: each stretch with the places that it came from and what it depends on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Iterable, Union

from ..findings.span import Span
from ..record import dataclass
from ..text.source import Source

Place = tuple[int, int]
"""Offsets into the script, the end exclusive."""
MAX_LENGTH = 1 << 18
MAX_PIECES = 1 << 14
MAX_FRAMES = 24
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text.

    Attributes
    ----------
    text : what it is; if unknown, how it is written.
    frames : where it stands: in the command, then in the value of the variable named there...
    exact : True if it is, character for character, what stands at the last place.
    unknown : why it is unknown; "" if it is known.
    unset : variables of the environment that were taken as not set, with nothing in their place.
    assumed : variables that were taken as not set, so that another value counts.
    secret : True if it comes from the environment.
    path : of an unknown text, the folder or file that it stands for, seen from the script.
    perhaps : True if it is unknown whether its word is there at all.
    """

    text: str
    frames: tuple[Place, ...]
    exact: bool = False
    unknown: str = ""
    unset: frozenset[str] = _NOTHING
    assumed: frozenset[str] = _NOTHING
    secret: bool = False
    path: str = ""
    perhaps: bool = False

    def cut(self, start: int, end: int) -> Piece:
        """The characters `start` to `end`."""
        if not self.exact:
            return replace(self, text=self.text[start:end])
        first = self.frames[-1][0]
        return replace(self, text=self.text[start:end], frames=(*self.frames[:-1], (first + start, first + end)))

    def used_at(self, place: Place) -> Piece:
        """The same where a variable that holds it is named."""
        frames = (place, *self.frames)[:MAX_FRAMES]
        return replace(self, frames=frames, exact=self.exact and len(frames) > len(self.frames))


@dataclass(frozen=True, slots=True)
class Text:
    """Pieces, one after the other."""

    pieces: tuple[Piece, ...] = ()

    @staticmethod
    def unknown(written: str, place: Place, why: str, path: str = "") -> Text:
        """Unknown text, and why it is."""
        return Text((Piece(written, (place,), unknown=why, path=path),))

    @property
    def plain(self) -> str:
        """The text; of what is unknown, how it is written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def why_unknown(self) -> str:
        """Why it is unknown; "" if all of it is known."""
        return next((piece.unknown for piece in self.pieces if piece.unknown), "")

    @property
    def known(self) -> bool:
        """True if all of it is known."""
        return not self.why_unknown

    @property
    def unset(self) -> frozenset[str]:
        """The variables that were taken as not set, with nothing in their place."""
        return frozenset(name for piece in self.pieces for name in piece.unset)

    @property
    def assumed(self) -> frozenset[str]:
        """The variables that were taken as not set, so that another value counts."""
        return frozenset(name for piece in self.pieces for name in piece.assumed)

    @property
    def secret(self) -> bool:
        """True if a part of it comes from the environment."""
        return any(piece.secret for piece in self.pieces)

    @property
    def path(self) -> str:
        """The path that it names, seen from the script; relative if its beginning is unknown."""
        whole, loose = "", False
        for piece in self.pieces:
            if piece.path:
                whole, loose = (whole + piece.path if whole else piece.path), False
            elif piece.unknown or piece.unset or piece.secret:
                whole, loose = "", True
            else:
                whole += piece.text
        return whole.lstrip("/") if loose else whole

    def cut(self, start: int, end: int | None = None) -> Text:
        """The characters `start` to `end`; pieces without text at the edge stay."""
        pieces, position = [], 0
        for piece in self.pieces:
            length = len(piece.text)
            low, high = max(start - position, 0), length if end is None else min(end - position, length)
            if low < high or (not length and low <= 0 <= high):
                pieces.append(piece.cut(low, high) if length else piece)
            position += length
            if end is not None and position > end:
                break
        return Text(tuple(pieces))

    @property
    def whole_place(self) -> Place | None:
        """Place in the command; None without any piece."""
        places = [piece.frames[0] for piece in self.pieces]
        return (places[0][0], max(end for _, end in places)) if places else None

    def place(self, start: int, end: int) -> Place:
        """Where the characters `start` to `end` stand in the command."""
        return self.cut(start, end).whole_place or (0, 0)

    def used_at(self, place: Place) -> Text:
        """The same text where a variable that holds it is named."""
        return Text(tuple(piece.used_at(place) for piece in self.pieces))

    def assuming(self, names: frozenset[str], place: Place) -> Text:
        """The same text, which also depends on these variables not being set."""
        if not names:
            return self
        pieces = self.pieces or (Piece("", (place,)),)
        return Text(tuple(replace(piece, assumed=piece.assumed | names) for piece in pieces))


Held = Union[Text, list[Text]]
"""What a variable holds: a text, or the elements of an array, which are never changed in place."""


def joined(texts: Iterable[Text], between: str = "", place: Place = (0, 0)) -> Text:
    """Texts, one after the other."""
    pieces: list[Piece] = []
    for position, text in enumerate(texts):
        if position and between:
            pieces.append(Piece(between, (place,)))
        pieces += text.pieces
    return bounded(Text(tuple(pieces)), place)


def bounded(text: Text, place: Place) -> Text:
    """The text, or an unknown one if it is too long to be followed."""
    if len(text.pieces) > MAX_PIECES or sum(len(piece.text) for piece in text.pieces) > MAX_LENGTH:
        return Text.unknown("...", place, f"the text becomes longer than {MAX_LENGTH:,} characters")
    return text


def derived(value: str, sources: Iterable[Text], place: Place) -> Text:
    """A text computed from others: it stands where that is done, and came from where they did."""
    every = [piece for source in sources for piece in source.pieces]
    inner = next((piece.frames[1:] for piece in every if len(piece.frames) > 1), ())
    unset = frozenset(name for piece in every for name in piece.unset)
    assumed = frozenset(name for piece in every for name in piece.assumed)
    secret = any(piece.secret for piece in every)
    frames = (place, *inner)[:MAX_FRAMES]
    return Text((Piece(value, frames, unset=unset, assumed=assumed, secret=secret),))


def alike(first: Held | None, second: Held | None) -> bool:
    """True if two variables hold the same, wherever it was written."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if not isinstance(first, Text) or not isinstance(second, Text):
        return first is second
    if first == second:
        return True
    same = (first.unset, first.assumed, first.secret) == (second.unset, second.assumed, second.secret)
    return same and first.known and second.known and first.plain == second.plain


def merged(first: Held | None, second: Held | None, name: str, place: Place, why: str) -> Held:
    """A variable after one of two ways: what both have in common, then what is unknown.

    Of an array the common beginning stays; each later setting `key=value` has an unknown value.
    """
    if not isinstance(first, Text) and not isinstance(second, Text):
        one, two, common = first or [], second or [], 0
        while common < min(len(one), len(two)) and alike(one[common], two[common]):
            common += 1
        return [*one[:common], *(_perhaps(text, place, why) for text in (*one[common:], *two[common:]))]
    if isinstance(first, Text) and isinstance(second, Text):
        length = _words_in_common(first.plain, second.plain)
        if length and alike(first.cut(0, length), second.cut(0, length)):
            return joined([first.cut(0, length), Text.unknown(f"${name}", place, why)], place=place)
    return Text.unknown(f"${name}", place, why)


def _perhaps(text: Text, place: Place, why: str) -> Text:
    """An element that an array may have: its key, if it is a setting, and an unknown value."""
    key, equals, _ = text.plain.partition("=")
    if not equals or text.cut(0, len(key)).why_unknown or " " in key:
        return Text.unknown(text.plain, text.pieces[0].frames[0] if text.pieces else place, why)
    head = text.cut(0, len(key) + 1).pieces
    rest = text.cut(len(key) + 1).pieces or (Piece("", head[-1].frames),)
    return Text((*head, *(replace(piece, unknown=why, perhaps=True) for piece in rest)))


def _words_in_common(first: str, second: str) -> int:
    """Length of the common beginning of two texts, in whole words; 0 if there are none."""
    length, limit = 0, min(len(first), len(second))
    while length < limit and first[length] == second[length]:
        length += 1
    edge = all(text[length : length + 1] in ("", " ", "\t", "\n") for text in (first, second))
    return length if edge and first[:length].strip() else first.rfind(" ", 0, length) + 1


class Lines:
    """The beginnings of the lines of a source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._starts = [0, *(at + 1 for at, letter in enumerate(source.text) if letter == "\n")]

    def span(self, place: Place) -> Span:
        """The span of a place."""
        line = bisect_right(self._starts, place[0])
        column = place[0] - self._starts[line - 1] + 1
        return Span(self._source.name, place[0], max(place), line, column)

    def number(self, position: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._starts, position)

    def end(self, position: int) -> int:
        """Where the line of an offset ends."""
        line = bisect_right(self._starts, position)
        return self._starts[line] - 1 if line < len(self._starts) else len(self._source.text)
