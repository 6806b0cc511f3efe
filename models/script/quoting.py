"""Edits of a script that keep it valid: new text in the quotes that it needs where it goes."""

from __future__ import annotations

import re
from dataclasses import replace

from ..findings.span import Edit
from .syntax.cursor import Unreadable
from .syntax.parser import Parser

_PLAIN = re.compile(r"[A-Za-z0-9_./:+=,@%~^-]*", re.ASCII)
NONE, SINGLE, DOUBLE = "", "'", '"'


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
    """In which quotes an offset of a script is."""
    parser = _Watcher(script, position)
    try:
        while parser.found is None and parser.statement() is not None:
            if parser.position > position:
                break
    except Unreadable:
        return parser.found or NONE
    return parser.found or NONE


class _Watcher(Parser):
    """Reads a script and notes in which quotes an offset is."""

    def __init__(self, script: str, watched: int) -> None:
        super().__init__(script)
        self._watched = watched
        self.found: str | None = None

    def piece(self, parts: list, ends: str) -> None:  # type: ignore[type-arg]
        start, quote = self.position, self.letter
        super().piece(parts, ends)
        if quote == "'" and start < self._watched < self.position:
            self.found = SINGLE

    def double_quoted(self, end: str, opened: int) -> list:  # type: ignore[type-arg]
        start, parts = self.position, super().double_quoted(end, opened)
        if start <= self._watched < self.position and self.found is None:
            self.found = DOUBLE
        return parts
