"""What a part of a `device_mapping` stands for: a number, or a list of device ids that is not expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .ids import Ids


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number."""

    number: int


@dataclass(frozen=True, slots=True)
class Listed:
    """Several numbers in order; `kind` is Python's name for what holds them."""

    ids: Ids
    kind: str


Value = Union[Number, Listed]
