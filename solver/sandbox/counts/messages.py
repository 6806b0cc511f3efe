"""What is said about counts: the question first, then what was found out of each structure, last that it is over."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Union

from ...planning.sizes.settling import Settled, Unsettled
from ..codec import Codec, NotOurs
from ..messages import Failed


@dataclass(frozen=True)
class Over:
    """Nothing follows."""


Message = Union[Settled, Over, Failed]


def write_question(asked: Unsettled) -> bytes:
    """The line that asks it."""
    return _line(_words().write(asked, Unsettled))


def read_question(line: bytes) -> Unsettled:
    """The question in a line. Raises NotOurs."""
    found: Unsettled = _words().read(_data(line), Unsettled)
    return found


def write(message: Message) -> bytes:
    """The line that says it."""
    return _line(_words().write(message, Message))


def read(line: bytes) -> Message:
    """What a line says. Raises NotOurs."""
    found: Message = _words().read(_data(line), Message)
    return found


@cache
def _words() -> Codec:
    return Codec()


def _line(data: object) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _data(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise NotOurs("it is not JSON") from None
