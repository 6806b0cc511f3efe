"""Text as a YAML scalar."""

from __future__ import annotations

from .tree import Scalar
from .yaml_reader import read_yaml


def plain_or_quoted(text: str) -> str:
    """The text as a YAML scalar that is read as this very text: quoted only where it must be."""
    if text and text == text.strip() and all(letter.isalnum() or letter in "-,:_. " for letter in text) and text[0].isalnum():
        value = read_yaml("", text)
        if isinstance(value, Scalar) and value.text == text and str(value.value) == text and not value.is_null:
            return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_flow_map(text: str) -> str:
    """The text as a YAML scalar inside brackets or braces, where a comma or a colon would end it."""
    return f'"{text}"' if "," in text or ":" in text else plain_or_quoted(text)
