"""How values that hold no others are written as JSON data and read back."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Any, Callable

from ...models.record import dataclass

SCALARS = (int, float, str, bool, type(None))
"""The types of plain values."""


class NotOurs(ValueError):
    """Data that is no value of the type that is expected."""


@dataclass(frozen=True)
class Form:
    """How values of one type are written as JSON data and read back; `read` raises NotOurs."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def scalar(kind: type) -> Form:
    """Of a plain value, which is written as it is; a whole number is a float too."""

    def write(value: object) -> object:
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise TypeError(f"{value!r} is not {kind}")
        return value

    def read(data: object) -> object:
        if type(data) is not kind and not (kind is float and type(data) is int):
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return data

    return Form(write, read)


def enumeration(kind: type[Enum]) -> Form:
    """Of a member of an enumeration, which is written by its name."""
    names = {member.name: member for member in kind}

    def read(data: object) -> Enum:
        if not isinstance(data, str) or data not in names:
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return names[data]

    return Form(lambda value: value.name, read)


def list_of(data: object, length: int | None = None) -> list[Any]:
    """The data, which is a list of so many members, or of any number. Raises NotOurs for anything else."""
    if not isinstance(data, list) or (length is not None and len(data) != length):
        raise NotOurs(f"{data!r:.40} is no list of {'any' if length is None else length}")
    return data


def _read_fraction(data: object) -> Fraction:
    over, under = list_of(data, 2)
    if type(over) is not int or type(under) is not int or under < 1:
        raise NotOurs(f"{data!r:.40} is no fraction")
    return Fraction(over, under)


def _write_range(value: range) -> list[int]:
    return [value.start, value.stop, value.step]


def _read_range(data: object) -> range:
    its = list_of(data, 3)
    if not all(type(each) is int for each in its) or not its[2]:
        raise NotOurs(f"{data!r:.40} is no range")
    return range(*its)


RANGE = Form(_write_range, _read_range)
"""Of a range: [first, one after the last, step]."""
FRACTION = Form(lambda value: [value.numerator, value.denominator], _read_fraction)
"""Of a fraction: [numerator, denominator]."""
