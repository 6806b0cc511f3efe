"""Text that a variable or a word holds, each stretch with the places it came from and what it depends on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable, Iterator, Union

from ..syntax.parts import Place

MAX_LENGTH = 1 << 18
MAX_PIECES = 1 << 14
MAX_FRAMES = 24
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text.

    Attributes
    ----------
    text : what it is; where that is not known, how it is written.
    frames : where it stands: first in the command, then in the value of the variable that the command names, and so on.
    exact : is it, character for character, what stands at the last place?
    unknown : why it is not known; "" where it is.
    unset : variables of the environment that were taken as not set, with nothing in their place.
    assumed : those that were taken as not set, so that another value counts.
    secret : does it come from the environment?
    """

    text: str
    frames: tuple[Place, ...]
    exact: bool = False
    unknown: str = ""
    unset: frozenset[str] = _NOTHING
    assumed: frozenset[str] = _NOTHING
    secret: bool = False

    def cut(self, start: int, end: int) -> Piece:
        """The characters `start` to `end`."""
        if not self.exact:
            return replace(self, text=self.text[start:end])
        first = self.frames[-1][0]
        return replace(self, text=self.text[start:end], frames=(*self.frames[:-1], (first + start, first + end)))

    def used_at(self, place: Place) -> Piece:
        """The same where a variable that holds it is named."""
        frames = (place, *self.frames)[:MAX_FRAMES]
        return Piece(self.text, frames, self.exact and len(frames) > len(self.frames), self.unknown, self.unset, self.assumed, self.secret)


@dataclass(frozen=True, slots=True)
class Text:
    """Pieces, one after the other."""

    pieces: tuple[Piece, ...] = ()

    @staticmethod
    def unknown(written: str, place: Place, why: str) -> Text:
        """Text that is not known, and why."""
        return Text((Piece(written, (place,), unknown=why),))

    @property
    def plain(self) -> str:
        """The text; of what is not known, how it is written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def why_unknown(self) -> str:
        """Why it is not known; "" where all of it is."""
        return next((piece.unknown for piece in self.pieces if piece.unknown), "")

    @property
    def known(self) -> bool:
        """Is all of it known?"""
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
        """Does a part of it come from the environment?"""
        return any(piece.secret for piece in self.pieces)

    def cut(self, start: int, end: int | None = None) -> Text:
        """The characters `start` to `end`; of pieces without text those at the edge stay, which say what it depends on."""
        pieces, position = [], 0
        for piece in self.pieces:
            length = len(piece.text)
            low, high = max(start - position, 0), length if end is None else min(end - position, length)
            if low < high or (not length and low <= 0 <= high):
                pieces.append(piece.cut(low, high) if length else piece)
            position += length
        return Text(tuple(pieces))

    def used_at(self, place: Place) -> Text:
        """The same text where a variable that holds it is named."""
        return Text(tuple(piece.used_at(place) for piece in self.pieces))

    def given(self, unset: Iterable[str] = (), assumed: Iterable[str] = (), place: Place = (0, 0)) -> Text:
        """The same text, which also depends on these variables."""
        more = frozenset(unset), frozenset(assumed)
        if not any(more):
            return self
        if not self.pieces:
            return Text((Piece("", (place,), unset=more[0], assumed=more[1]),))
        return Text(tuple(replace(piece, unset=piece.unset | more[0], assumed=piece.assumed | more[1]) for piece in self.pieces))


Array = dict[str, Text]
"""The elements of an array by their subscript, in the order of writing."""


class Keyed(Array):
    """An array whose subscripts are texts, as `declare -A` makes it."""


Held = Union[Text, Array]


def joined(texts: Iterable[Text], between: str = "", place: Place = (0, 0)) -> Text:
    """Texts, one after the other."""
    pieces: list[Piece] = []
    for position, text in enumerate(texts):
        if position and between:
            pieces.append(Piece(between, (place,)))
        pieces += text.pieces
    return bounded(Text(tuple(pieces)), place)


def bounded(text: Text, place: Place) -> Text:
    """The text, or one that is not known if it is too long to be followed."""
    if len(text.pieces) > MAX_PIECES or sum(len(piece.text) for piece in text.pieces) > MAX_LENGTH:
        return Text.unknown("...", place, f"the text becomes longer than {MAX_LENGTH:,} characters")
    return text


def derived(value: str, sources: Iterable[Text], place: Place) -> Text:
    """A text that was computed from others: it stands where that is done, and first came from where they did."""
    every = [piece for source in sources for piece in source.pieces]
    inner = next((piece.frames[1:] for piece in every if len(piece.frames) > 1), ())
    return Text(
        (
            Piece(
                value,
                (place, *inner)[:MAX_FRAMES],
                unset=frozenset(name for piece in every for name in piece.unset),
                assumed=frozenset(name for piece in every for name in piece.assumed),
                secret=any(piece.secret for piece in every),
            ),
        )
    )


def in_order(array: Array) -> Iterator[tuple[str, Text]]:
    """The elements in the order of bash: by number, where all subscripts are numbers."""
    if not isinstance(array, Keyed):
        return iter(sorted(array.items(), key=lambda pair: int(pair[0])))
    return iter(array.items())


def alike(one: Held | None, other: Held | None) -> bool:
    """Do two variables hold the same, wherever it was written?"""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(text, other[key]) for key, text in one.items())
    if not isinstance(one, Text) or not isinstance(other, Text):
        return one is other
    depends = one.unset == other.unset and one.assumed == other.assumed and one.secret == other.secret
    return one == other or (depends and one.known and other.known and one.plain == other.plain)
