"""Kinds of values that forms hold: what is read, and how JSON Schema says the same of what is written.

A kind is described once: its reader raises ValueError with a sentence for a person, and the schema beside it takes the same
values, so that an editor and `verify` agree. Shapes such as a placement text are read later, where their place is known.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Collection, Union

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ..quantity import MEMORY_PATTERN, RANGE_PATTERN, RATE_PATTERN, Advised, read_memory, read_range, read_rate, write_range
from .other_amounts import meant

__all__ = [
    "ALONE", "INSIDE", "LIST", "MAP", "TEXT", "UNKNOWN_WORD", "WORD", "Amounts", "Count", "Degrees", "Index", "Labels", "Mebibytes", "Name", "Names", "Numbers",
    "OneOf", "Percent", "Rate", "RankText", "RankTexts", "StrictBool", "Word", "amount", "or_list", "several", "text_or_list", "whole", "whole_schema", "word_or_map",
]  # fmt: skip

TEXT, LIST, MAP, WORD = TAGS = "(text)", "(list)", "(map)", "(word)"
"""The tags of the forms of a value that is a text or a list, or a map or a word: no keys of a file."""
UNKNOWN_WORD = "unknown_word"
"""The type of pydantic's error where a value is none of a few words; its context holds these."""
INSIDE = "inside"
"""The type of pydantic's error of what stands inside a value that is read as a whole; its context holds all `faults`, each with its
`message`, its `place` there and what that `takes`, and `of_key` where it is the key there that is wrong."""
MAX_TEXT, MAX_DIGITS, LARGEST = 256, 9, 10**9 - 1
MAX_DEGREES, MAX_COUNTS = 8, 64


def shown(value: object) -> str:
    """A value in a message: text and numbers as they are, anything else by what it is."""
    if isinstance(value, str):
        return f"`{value[:40]}`"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    return "nothing" if value is None else "a map" if isinstance(value, dict) else "a list"


def text_or_list(value: object) -> str:
    """Which of the two forms a value has: anything but a list is judged as text."""
    return LIST if isinstance(value, (list, tuple)) else TEXT


def word_or_map(value: object) -> str:
    """Which of the two forms a value has: anything but a map is judged as a word."""
    return MAP if isinstance(value, dict) else WORD


def whole(value: object) -> object:
    """A whole number of a number without a fraction or of digits. Raises ValueError with a sentence for a person."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown(value)} is no whole number")
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        raise ValueError(f"{shown(value)} is no whole number")
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is no whole number")
    if not -LARGEST <= int(value) <= LARGEST:
        raise ValueError(f"{shown(value)} is larger than what is read")
    return int(value)


def _text(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{shown(value)} is no text")
    return str(value)


def amount(value: object) -> tuple[int, int]:
    """(least, most) of a number, or of a text such as `8-32`. Raises ValueError with a sentence for a person."""
    if isinstance(value, (str, dict)) and (advice := meant(value)):
        raise Advised(f"{shown(value)} is neither a number nor a range", advice)
    if isinstance(value, str):
        return read_range(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{shown(value)} is neither a number nor a range")
    return read_range(str(whole(value)))


def _disjoint(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Ranges in ascending order, of which no two have a count in common."""
    faults: list[dict[str, object]] = []
    for place, (low, high) in enumerate(ranges):
        if met := next((each for each in ranges[:place] if low <= each[1] and each[0] <= high), None):
            message = (
                f"`{write_range(met)}` stands twice"
                if met == (low, high)
                else f"`{write_range((low, high))}` and `{write_range(met)}` overlap"
            )
            faults.append({"message": message, "place": (place,), "takes": "each count once"})
    if faults:
        raise PydanticCustomError(INSIDE, "{message}", {"message": faults[0]["message"], "faults": faults})
    return tuple(sorted(ranges))


def _memory(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{shown(value)} is no amount of memory")
    return read_memory(str(value))


def _rate(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{shown(value)} is no amount a second")
    return read_rate(str(value))


def several(value: object) -> object:
    """The items of a list, or one value as the only one."""
    return value if isinstance(value, (list, tuple)) else [value]


def _labels(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [item.strip() if isinstance(item, str) else item for item in value]
    return [item.strip() for item in str(_text(value)).split(",")]


MAX_RANKS = 1 << 19
_RANKS: dict[str, Any] = {"anyOf": [{"type": "string", "maxLength": MAX_RANKS}, {"type": "number"}]}
_WORD: dict[str, Any] = {"anyOf": [{"type": "string", "maxLength": MAX_TEXT}, {"type": "number"}]}


class _Alone:
    """A list whose one item may be written alone; `several` reads it."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        listed = handler(core)
        return {"anyOf": [listed["items"], listed]}


ALONE = _Alone()
"""Beside `BeforeValidator(several)`: how JSON Schema says it, of items that are forms."""


class OneOf:
    """A text that is one of a few words; `what` these are is told of any other."""

    def __init__(self, what: str, words: Collection[str]) -> None:
        self.what, self.words = what, tuple(words)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"enum": list(self.words)}

    def _known(self, value: str) -> str:
        if value not in self.words:
            raise PydanticCustomError(UNKNOWN_WORD, "{shown} is no {what}", {"shown": shown(value), "what": self.what, "words": self.words})
        return value


def or_list(items: dict[str, Any], **limits: int) -> WithJsonSchema:
    """One value of a kind, or a list of them."""
    return WithJsonSchema({"anyOf": [*items.get("anyOf", [items]), {"type": "array", "items": items, **limits}]})


def whole_schema(least: int, most: int = LARGEST) -> dict[str, Any]:
    """A whole number from `least` (0 or 1) to `most`, as a number or in digits (whose upper limit JSON Schema cannot say)."""
    digits = {"type": "string", "pattern": rf"^0{{0,8}}[{least}-9][0-9]{{0,8}}$", "maxLength": MAX_DIGITS}
    return {"anyOf": [{"type": "integer", "minimum": least, "maximum": most}, digits]}


_COUNT = whole_schema(1)
Count = Annotated[int, BeforeValidator(whole), Field(ge=1), WithJsonSchema(_COUNT)]
"""A whole number from 1."""
Index = Annotated[int, BeforeValidator(whole), Field(ge=0), WithJsonSchema(whole_schema(0))]
"""A whole number from 0."""
Percent = Annotated[int, BeforeValidator(whole), Field(ge=1, le=100), WithJsonSchema(whole_schema(1, 100))]
"""A whole number from 1 to 100."""
_RANGE: dict[str, Any] = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": LARGEST}, {"type": "string", "pattern": RANGE_PATTERN}]}
Amounts = Annotated[
    tuple[Annotated[tuple[int, int], BeforeValidator(amount)], ...],
    BeforeValidator(several), Field(min_length=1, max_length=MAX_COUNTS), AfterValidator(_disjoint), or_list(_RANGE, minItems=1, maxItems=MAX_COUNTS, uniqueItems=True),
]  # fmt: skip
"""(least, most) of a number or a range such as ``8-32``, or of each of several, ascending; no count is in two of them."""
Degrees = Annotated[
    tuple[Count, ...], BeforeValidator(several), Field(min_length=1, max_length=MAX_DEGREES), or_list(_COUNT, minItems=1, maxItems=MAX_DEGREES)
]  # fmt: skip
"""A whole number, or several to choose from."""
_NUMBER_OF_GIB = {"type": "number", "minimum": 0, "maximum": LARGEST}
_AMOUNT: dict[str, Any] = {"anyOf": [_NUMBER_OF_GIB, {"type": "string", "pattern": MEMORY_PATTERN}]}
_RATE: dict[str, Any] = {"anyOf": [_NUMBER_OF_GIB, {"type": "string", "pattern": RATE_PATTERN}]}
Mebibytes = Annotated[int, BeforeValidator(_memory), WithJsonSchema(_AMOUNT)]
"""MiB of a text such as ``70GiB``; a bare number is GiB."""
Rate = Annotated[Union[int, Fraction], PlainValidator(_rate), WithJsonSchema(_RATE)]
"""MiB a second of an amount that crosses in one, exactly; a bare number is GiB."""
Word = Annotated[str, BeforeValidator(_text), Field(max_length=MAX_TEXT), WithJsonSchema(_WORD)]
"""A text; a number is taken as its digits."""
RankText = Annotated[str, BeforeValidator(_text), Field(max_length=MAX_RANKS), WithJsonSchema(_RANKS)]
"""Ranks such as ``0-3,6``: they may be as many as a program writes."""
RankTexts = Annotated[
    tuple[RankText, ...],
    BeforeValidator(several),
    Field(min_length=1, max_length=1024),
    or_list(_RANKS, minItems=1, maxItems=1024),
]
"""Ranks or names: a text such as ``0-3,6``, or a list of them."""
NAME_PATTERN = r"^[A-Za-z0-9_.:-]{1,64}$"
Name = Annotated[
    str,
    BeforeValidator(_text),
    Field(pattern=NAME_PATTERN),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": NAME_PATTERN}, {"type": "number"}]}),
]
"""A name of letters, digits and `_ . : -`."""
Names = Annotated[tuple[Word, ...], BeforeValidator(several), or_list(_WORD)]
"""A name, or several."""
Labels = Annotated[tuple[Word, ...], BeforeValidator(_labels), Field(min_length=1), or_list(_WORD, minItems=1)]
"""A label, several with commas, or a list of labels."""
Numbers = Annotated[
    tuple[Word, ...], BeforeValidator(several), Field(min_length=1, max_length=1024), or_list(_WORD, minItems=1, maxItems=1024)
]
"""Numbers in order: one, a text such as ``0-3,6``, or a list of numbers and texts."""
