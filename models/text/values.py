"""Kinds of values in forms.

A kind is defined once: its reader raises ValueError with a sentence for users, and its schema
accepts the same values, so that an editor and `verify` agree. Shapes such as a placement text are
read later, when their place is known.
"""

from __future__ import annotations

import re
from typing import Any, Collection, TypeVar, overload

from ..quantity import MEMORY_PATTERN, RANGE_PATTERN, RATE_PATTERN, read_memory, read_range, read_rate, write_range
from .form import MAX_TEXT, UNKNOWN_WORD, Faults, Form, FormFault, Schema, ValueKind, as_items, form_of, key, list_of, shown_value

A = TypeVar("A")
B = TypeVar("B")
AnyForm = TypeVar("AnyForm", bound=Form)
MAX_DIGITS, LARGEST = 9, 10**9 - 1
MAX_DEGREES, MAX_COUNTS = 8, 64
MAX_RANKS = 1 << 19
_RANKS: Schema = {"anyOf": [{"type": "string", "maxLength": MAX_RANKS}, {"type": "number"}]}
_WORD: Schema = {"anyOf": [{"type": "string", "maxLength": MAX_TEXT}, {"type": "number"}]}
NAME_PATTERN = r"^[A-Za-z0-9_.:-]{1,64}$"
_RANGE: Schema = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": LARGEST}, {"type": "string", "pattern": RANGE_PATTERN}]}
_NUMBER_OF_GIB = {"type": "number", "minimum": 0, "maximum": LARGEST}


def read_whole_number(value: object) -> int:
    """Return a whole number, or its digits. Raises ValueError with a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown_value(value)} is not a whole number")
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        raise ValueError(f"{shown_value(value)} is not a whole number")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is not a whole number")
    if not -LARGEST <= int(value) <= LARGEST:
        raise ValueError(f"{shown_value(value)} is larger than what is read")
    return int(value)


def _text(value: object, noun: str = "text") -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{shown_value(value)} is not {noun}")
    return str(value)


def amount(value: object) -> tuple[int, int]:
    """Return (least, most) of a number, or of `8-32`. Raises ValueError with a sentence."""
    if isinstance(value, str):
        return read_range(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{shown_value(value)} is neither a number nor a range")
    return read_range(str(read_whole_number(value)))


def _disjoint(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return ranges in ascending order; ranges with a common count are refused."""
    faults: list[FormFault] = []
    for place, (low, high) in enumerate(ranges):
        if overlap := next((earlier for earlier in ranges[:place] if low <= earlier[1] and earlier[0] <= high), None):
            both = f"`{write_range((low, high))}` and `{write_range(overlap)}` overlap"
            message = f"`{write_range(overlap)}` appears twice" if overlap == (low, high) else both
            faults.append(FormFault(message, inside=(place,), takes="each count once"))
    if faults:
        raise Faults(faults)
    return tuple(sorted(ranges))


def _labels(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [item.strip() if isinstance(item, str) else item for item in value]
    return [item.strip() for item in str(_text(value)).split(",")]


class OneOfValues(ValueKind[str]):
    """Kind of a text from a few words; `noun` names them in messages."""

    def __init__(self, noun: str, words: Collection[str]) -> None:
        self.noun, self.words = noun, tuple(words)
        super().__init__(self._list_known, {"enum": [*words]}, description=f"one of {', '.join(f'`{word}`' for word in words)}")

    def _list_known(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{shown_value(value)} is not text")
        if value not in self.words:
            raise Faults(
                [
                    FormFault(
                        f"{shown_value(value)} is not a known {self.noun}",
                        value,
                        kind=UNKNOWN_WORD,
                        words=self.words,
                    )
                ]
            )
        return value


def word_or_map(word: ValueKind[str], form: type[AnyForm]) -> ValueKind[str | AnyForm]:
    """Return the kind of a word, or a map in the form."""

    def read(value: object) -> str | AnyForm:
        if isinstance(value, dict):
            return form.read(value)
        if isinstance(word, OneOfValues) and not isinstance(value, str):
            raise ValueError(f"{shown_value(value)} is neither a word nor a map")
        return word.read(value)

    return ValueKind(read, {"anyOf": [word.schema, form_of(form).schema]}, form)


def text_or_list(text: ValueKind[A], items: ValueKind[B]) -> ValueKind[A | B]:
    """Return the kind of a text, or a list."""

    def read(value: object) -> A | B:
        return items.read(value) if isinstance(value, (list, tuple)) else text.read(value)

    return ValueKind(read, {"anyOf": [text.schema, items.schema]}, items.form, is_listed=True)


def or_list(items: Schema, **limits: int) -> Schema:
    """Return the schema of a value, or a list of values."""
    return {"anyOf": [*items.get("anyOf", [items]), {"type": "array", "items": items, **limits}]}


def whole_schema(minimum: int, maximum: int = LARGEST) -> dict[str, Any]:
    """Return the schema of a whole number, or its digits, from `minimum` to `maximum`."""
    digits = {"type": "string", "pattern": rf"^0{{0,8}}[{minimum}-9][0-9]{{0,8}}$", "maxLength": MAX_DIGITS}
    return {"anyOf": [{"type": "integer", "minimum": minimum, "maximum": maximum}, digits]}


def whole_between(minimum: int, maximum: int = LARGEST) -> ValueKind[int]:
    """Return the kind of a whole number from `minimum` to `maximum`."""

    def read(value: object) -> int:
        number = read_whole_number(value)
        if number < minimum:
            raise ValueError(f"{shown_value(value)} is less than {minimum}")
        if number > maximum:
            raise ValueError(f"{shown_value(value)} is more than {maximum:,}")
        return number

    return ValueKind(read, whole_schema(minimum, maximum))


def text_of(most: int, schema: Schema) -> ValueKind[str]:
    """Return the kind of a text of limited length; numbers count as their digits."""

    def read(value: object) -> str:
        text = _text(value)
        if len(text) > most:
            raise ValueError(f"the text is longer than {most} characters")
        return text

    return ValueKind(read, schema)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown_value(value)} is neither true nor false")
    return value


def _name(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(NAME_PATTERN, text):
        raise ValueError(f"{shown_value(text)} is not a name of at most 64 letters, digits and `_ . : -`")
    return text


Boolean = ValueKind(_boolean, {"type": "boolean"}, description="`true` or `false`")
"""Value ``true`` or ``false``."""
Count = whole_between(1)
"""Whole number from 1."""


@overload
def count_key(example: int, title: str = "", *, default: int) -> int: ...
@overload
def count_key(example: int, title: str = "") -> int | None: ...
def count_key(example: int, title: str = "", *, default: int | None = None) -> int | None:
    """Declare a key with a whole number from 1 (see `key`), described by an example."""
    return key(Count, default=default, title=title, description=f"a whole number such as `{example}`")


Index = whole_between(0)
"""Whole number from 0."""
Percent = whole_between(1, 100)
"""Whole number from 1 to 100."""
Amounts = list_of(
    ValueKind(amount, _RANGE), 1, MAX_COUNTS, as_items, _disjoint, or_list(_RANGE, minItems=1, maxItems=MAX_COUNTS, uniqueItems=True)
)
"""Ranges (least, most), ascending and disjoint, from a number, a range or a list."""
Degrees = list_of(Count, 1, MAX_DEGREES, as_items, schema=or_list(Count.schema, minItems=1, maxItems=MAX_DEGREES))
"""Whole number, or several to choose from."""
Mebibytes = ValueKind(
    lambda value: read_memory(_text(value, "an amount of memory")),
    {"anyOf": [_NUMBER_OF_GIB, {"type": "string", "pattern": MEMORY_PATTERN}]},
)
"""MiB of a text such as ``70GiB``; a bare number is GiB."""
Rate = ValueKind(
    lambda value: read_rate(_text(value, "an amount a second")), {"anyOf": [_NUMBER_OF_GIB, {"type": "string", "pattern": RATE_PATTERN}]}
)
"""MiB per second, exact; a bare number is GiB."""
Word = text_of(MAX_TEXT, _WORD)
"""Text; a number is taken as its digits."""
RankText = text_of(MAX_RANKS, _RANKS)
"""Ranks such as ``0-3,6``, as many as a program writes."""
RankTexts = list_of(RankText, 1, 1024, as_items, schema=or_list(_RANKS, minItems=1, maxItems=1024))
"""Ranks or names: a text such as ``0-3,6``, or a list of texts."""
Name = ValueKind(_name, {"anyOf": [{"type": "string", "pattern": NAME_PATTERN}, {"type": "number"}]})
"""Name of letters, digits and `_ . : -`."""
Names = list_of(Word, unpack=as_items, schema=or_list(_WORD))
"""Name, or several names."""
Labels = list_of(Word, 1, unpack=_labels, schema=or_list(_WORD, minItems=1))
"""Label, several labels with commas, or a list of labels."""
Numbers = list_of(Word, 1, 1024, as_items, schema=or_list(_WORD, minItems=1, maxItems=1024))
"""Numbers in order: a single number, a text such as ``0-3,6``, or a list of both."""
