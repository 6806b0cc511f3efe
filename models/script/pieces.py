"""Text of a script in pieces, with their places and dependencies."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Iterable, Union

from ..record import dataclass

Place = tuple[int, int]
"""Offsets into the script, the end exclusive."""
MAX_LENGTH = 1 << 18
MAX_PIECES = 1 << 14
MAX_FRAMES = 24
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WordPiece:
    """Piece of text.

    Attributes
    ----------
    text : the text; if unknown, the written form.
    frames : places: in the command, then in the value of the variable named there, and so on.
    exact : True if the text equals, character for character, the text at the last place.
    unknown : why the text is unknown; "" if known.
    unset : environment variables assumed unset, with nothing in their place.
    assumed : variables assumed unset, so that another value is used.
    secret : True if the text comes from the environment.
    path : for an unknown text, the folder or file that it stands for, seen from the script.
    perhaps : True if the word itself may be absent.
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

    def cut(self, start: int, end: int) -> WordPiece:
        """Return the characters `start` to `end`."""
        if start == 0 and end == len(self.text):
            return self
        if not self.exact:
            return replace(self, text=self.text[start:end])
        first = self.frames[-1][0]
        return replace(self, text=self.text[start:end], frames=(*self.frames[:-1], (first + start, first + end)))

    def use_at(self, place: Place) -> WordPiece:
        """Return a copy for a place where a variable with this text is named."""
        frames = (place, *self.frames)[:MAX_FRAMES]
        return replace(self, frames=frames, exact=self.exact and len(frames) > len(self.frames))


@dataclass(frozen=True, slots=True)
class WordText:
    """Sequence of pieces."""

    pieces: tuple[WordPiece, ...] = ()

    @staticmethod
    def of(text: str, place: Place, exact: bool = False, unset: frozenset[str] = _NOTHING, assumed: frozenset[str] = _NOTHING) -> WordText:
        """Build a known text of one piece."""
        return WordText((WordPiece(text, (place,), exact, unset=unset, assumed=assumed),))

    @staticmethod
    def foreign(text: str, place: Place) -> WordText:
        """Build the text of another file, which the script names at a place."""
        return WordText((WordPiece(text, (place, place)),))

    @staticmethod
    def unknown(source_text: str, place: Place, why: str, path: str = "", perhaps: bool = False) -> WordText:
        """Build an unknown text with a reason."""
        return WordText((WordPiece(source_text, (place,), unknown=why, path=path, perhaps=perhaps),))

    @property
    def plain(self) -> str:
        """Plain text; the written form for unknown pieces."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def why_unknown(self) -> str:
        """Reason why the text is unknown; "" if fully known."""
        return next((piece.unknown for piece in self.pieces if piece.unknown), "")

    @property
    def known(self) -> bool:
        """True if the whole text is known."""
        return not self.why_unknown

    @property
    def certain(self) -> bool:
        """True if the text is known and owes nothing to the environment."""
        return not any(piece.unknown or piece.unset or piece.secret for piece in self.pieces)

    @property
    def unset(self) -> frozenset[str]:
        """Variables assumed unset, with nothing in their place."""
        return _NOTHING.union(*(piece.unset for piece in self.pieces))

    @property
    def assumed(self) -> frozenset[str]:
        """Variables assumed unset, so that another value is used."""
        return _NOTHING.union(*(piece.assumed for piece in self.pieces))

    @property
    def secret(self) -> bool:
        """True if a part of the text comes from the environment."""
        return any(piece.secret for piece in self.pieces)

    @property
    def perhaps(self) -> bool:
        """True if the word itself may be absent."""
        return any(piece.perhaps for piece in self.pieces)

    @property
    def is_foreign(self) -> bool:
        """True if the text is written in another file than the script."""
        return any(piece.frames[-1:] == piece.frames[-2:-1] for piece in self.pieces)

    @property
    def path(self) -> str:
        """Path named by the text, seen from the script; relative if the beginning is unknown."""
        whole, loose = "", False
        for piece in self.pieces:
            if piece.path:
                whole, loose = (whole + piece.path if whole else piece.path), False
            elif piece.unknown or piece.unset or piece.secret:
                whole, loose = "", True
            else:
                whole += piece.text
        return whole.lstrip("/") if loose else whole

    def cut(self, start: int, end: int | None = None) -> WordText:
        """Return the characters `start` to `end`; pieces without text at the edge stay."""
        pieces, position = [], 0
        for piece in self.pieces:
            length = len(piece.text)
            low, high = max(start - position, 0), length if end is None else min(end - position, length)
            if low < high or (not length and low <= 0 <= high):
                pieces.append(piece.cut(low, high) if length else piece)
            position += length
            if end is not None and position > end:
                break
        return WordText(tuple(pieces))

    def place(self, start: int = 0, end: int | None = None) -> Place:
        """Return the place of the characters `start` to `end` in the command."""
        if len(self.pieces) == 1 and end is not None and 0 <= start < end <= len(self.pieces[0].text):  # the text of a file
            (piece,) = self.pieces
            if piece.exact and len(piece.frames) == 1:
                return piece.frames[0][0] + start, piece.frames[0][0] + end
        places = [piece.frames[0] for piece in self.cut(start, end).pieces]
        return (places[0][0], max(last for _, last in places)) if places else (0, 0)

    def use_at(self, place: Place) -> WordText:
        """Return a copy for a place where a variable with this text is named."""
        return WordText(tuple(piece.use_at(place) for piece in self.pieces))

    def assuming(self, names: frozenset[str], place: Place) -> WordText:
        """Return a copy that also depends on unset variables."""
        if not names:
            return self
        pieces = self.pieces or (WordPiece("", (place,)),)
        return WordText(tuple(replace(piece, assumed=piece.assumed | names) for piece in pieces))


VariableValue = Union[WordText, list[WordText]]
"""Value of a variable: a text, or the elements of an array, which are never changed in place."""


def join(texts: Iterable[WordText], between: str = "", place: Place = (0, 0)) -> WordText:
    """Concatenate texts."""
    pieces: list[WordPiece] = []
    for position, text in enumerate(texts):
        if position and between:
            pieces.append(WordPiece(between, (place,)))
        pieces += text.pieces
    return bound(WordText(tuple(pieces)), place)


def bound(text: WordText, place: Place) -> WordText:
    """Return the text, or an unknown text if the size limit is exceeded."""
    if len(text.pieces) > MAX_PIECES or sum(len(piece.text) for piece in text.pieces) > MAX_LENGTH:
        return WordText.unknown("...", place, f"the text becomes longer than {MAX_LENGTH:,} characters")
    return text


def derive(value: str, sources: Iterable[WordText], place: Place) -> WordText:
    """Build a text computed from other texts, with their origins and dependencies."""
    whole = WordText(tuple(piece for source in sources for piece in source.pieces))
    inner = next((piece.frames[1:] for piece in whole.pieces if len(piece.frames) > 1), ())
    frames = (place, *inner)[:MAX_FRAMES]
    return WordText((WordPiece(value, frames, unset=whole.unset, assumed=whole.assumed, secret=whole.secret),))


# -- values after two branches


def have_same_value(first: VariableValue | None, second: VariableValue | None) -> bool:
    """Return True if two variables have the same value, wherever it was written."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(have_same_value, first, second))
    if not isinstance(first, WordText) or not isinstance(second, WordText):
        return first == second
    return _identity(first) == _identity(second)


def _identity(text: WordText) -> tuple[object, ...]:
    """Return what makes a value: of an unknown text, also its first place; variables may have passed it on."""
    if text.known:
        return text.plain, text.unset, text.assumed, text.secret
    return tuple((replace(piece, frames=piece.frames[-1:] if piece.unknown else (), exact=False)) for piece in text.pieces)


def merge_values(first: VariableValue | None, second: VariableValue | None, name: str, place: Place, why: str) -> VariableValue:
    """Merge the values of a variable after two branches; only the common beginning is known.

    Of an array the common beginning stays; every later setting `key=value` has an unknown value.
    """
    unknown = WordText.unknown(f"${name}", place, why)
    if isinstance(first, WordText) and isinstance(second, WordText):
        same = takewhile(lambda letters: letters[0] == letters[1], zip(first.plain, second.plain))
        common = "".join(letter for letter, _ in same)
        if any(text.plain[len(common) :][:1].strip() for text in (first, second)):
            common = common[: common.rfind(" ") + 1]  # whole words are common
        head = first.cut(0, len(common))
        if common.strip() and have_same_value(head, second.cut(0, len(common))):
            return join([head, unknown], "" if common[-1].isspace() else " ", place)
    if isinstance(first, WordText) or isinstance(second, WordText):
        return unknown
    left, right = first or [], second or []
    common_length = sum(1 for _ in takewhile(lambda pair: have_same_value(*pair), zip(left, right)))
    return [*left[:common_length], *(_possible(text, place, why) for text in (*left[common_length:], *right[common_length:]))]


def _possible(text: WordText, place: Place, why: str) -> WordText:
    """Return a possible element of an array: the key of a setting, and an unknown value."""
    key, equals, _ = text.plain.partition("=")
    if not equals or text.cut(0, len(key)).why_unknown or " " in key:
        return WordText.unknown(text.plain, text.pieces[0].frames[0] if text.pieces else place, why, perhaps=True)
    head = text.cut(0, len(key) + 1).pieces
    rest = text.cut(len(key) + 1).pieces or (WordPiece("", head[-1].frames),)
    return WordText((*head, *(replace(piece, unknown=why, perhaps=True) for piece in rest)))
