"""Text safe for a terminal, its width, and its colour."""

from __future__ import annotations

import os
import unicodedata
from typing import TextIO

TAB = "    "
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}  # a space that is not a space is a trap of its own
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
_STYLES = {"red": "1;31", "yellow": "1;33", "blue": "1;34", "cyan": "1;36", "green": "1;32", "bold": "1"}


def escape(text: str) -> str:
    """Escape control, invisible and reordering characters by their numbers."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def source_character(character: str) -> str:
    """Return a character of a source line as shown: a tab as four spaces, others escaped."""
    return TAB if character == "\t" else _visible(character)


def _visible(character: str) -> str:
    if character == " " or unicodedata.category(character) not in _HIDDEN:
        return character
    if character in _NAMED:
        return _NAMED[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def cells(text: str) -> int:
    """Count the columns of an escaped text: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def wants_colour(stream: TextIO) -> bool:
    """Return True for a terminal or FORCE_COLOR, without NO_COLOR.

    Source: no-color.org, force-color.org.
    """
    if os.environ.get("FORCE_COLOR", "") not in ("", "0") and not os.environ.get("NO_COLOR"):
        return True
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, colour: bool) -> str:
    """Format a text in a style, if colour is wanted."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if colour and text else text
