"""Plain data as JSON between a server and its workers: no message can name or run code."""

from __future__ import annotations

import json
from typing import Any


class MalformedMessage(ValueError):
    """Message that is not plain data."""


def encode(value: Any) -> bytes:
    """Encode plain data: None, bool, finite numbers, text, lists, and dicts with text keys.

    A tuple arrives as a list. Raises MalformedMessage for anything else.
    """
    _must_have_text_keys(value)
    try:
        return json.dumps(value, allow_nan=False, default=_refuse).encode()
    except ValueError as problem:
        raise problem if isinstance(problem, MalformedMessage) else MalformedMessage(f"cannot be sent: {problem}") from None


def decode(data: bytes) -> Any:
    """Decode a value. Raises MalformedMessage."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise MalformedMessage(f"no JSON: {problem}") from None


def _must_have_text_keys(value: Any) -> None:
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        raise MalformedMessage("cannot be sent: a dict whose keys are not text")
    for element in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        _must_have_text_keys(element)


def _refuse(value: Any) -> Any:
    raise MalformedMessage(f"cannot be sent: {type(value).__name__}")
