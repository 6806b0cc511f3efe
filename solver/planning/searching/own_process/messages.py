"""What is said about counts: the question first, then what was found out of each structure, last that it is over."""

from __future__ import annotations

from functools import cache
from typing import Union

from .....models.record import dataclass
from ....sandbox.codec import Codec
from ....sandbox.lines import data_of, line_of
from ....sandbox.messages import Failed
from ..sizes.settling import Settled, Unsettled


@dataclass(frozen=True)
class Over:
    """Nothing follows."""


Message = Union[Settled, Over, Failed]


def write_question(asked: Unsettled) -> bytes:
    """The line that asks it."""
    return line_of(_words().write(asked, Unsettled))


def read_question(line: bytes) -> Unsettled:
    """The question in a line. Raises NotOurs."""
    found: Unsettled = _words().read(data_of(line), Unsettled)
    return found


def write(message: Message) -> bytes:
    """The line that says it."""
    return line_of(_words().write(message, Message))


def read(line: bytes) -> Message:
    """What a line says. Raises NotOurs."""
    found: Message = _words().read(data_of(line), Message)
    return found


@cache
def _words() -> Codec:
    return Codec()
