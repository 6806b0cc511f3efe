"""Edits of a script that keep it valid: new text in the quotes that it needs where it goes."""

from __future__ import annotations

import re
from dataclasses import replace

from ..findings.span import Edit
from .syntax import Script

_PLAIN = re.compile(r"[A-Za-z0-9_./:+=,@%~^-]*", re.ASCII)
NONE, SINGLE, DOUBLE = "", "'", '"'
_QUOTES = {"raw_string": SINGLE, "string": DOUBLE, "translated_string": DOUBLE}


def fitted(script: str, edit: Edit) -> Edit:
    """The edit with its text quoted as it must be at its place."""
    if _PLAIN.fullmatch(edit.text):
        return edit
    around = quotes_at(script, edit.span.start)
    if around == SINGLE:
        return replace(edit, text=edit.text.replace("'", "'\\''"))
    if around == DOUBLE:
        return replace(edit, text=re.sub(r'([\\$`"])', r"\\\1", edit.text))
    return replace(edit, text=quoted(edit.text))


def quoted(text: str) -> str:
    """The text as one word of a command, or a part of one."""
    if _PLAIN.fullmatch(text):
        return text
    if "'" not in text:
        return f"'{text}'"
    return '"' + re.sub(r'([\\$`"])', r"\\\1", text) + '"'


def quotes_at(script: str, position: int) -> str:
    """The quotes that an offset of a script stands in."""
    text, byte = Script.of(script), len(script[:position].encode())
    node = text.root.descendant_for_byte_range(byte, byte)
    while node is not None and node.type != "command_substitution":
        if node.type in _QUOTES and text.range(node)[0] < position < text.range(node)[1]:
            return _QUOTES[node.type]
        node = node.parent
    return NONE
