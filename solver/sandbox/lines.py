"""A message as one line of JSON, and the data of a line."""

from __future__ import annotations

import json

from .forms import NotOurs


def line_of(data: object) -> bytes:
    """The line that says it."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def data_of(line: bytes) -> object:
    """What a line says. Raises NotOurs where it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise NotOurs("it is not JSON") from None
