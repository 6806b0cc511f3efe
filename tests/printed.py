"""What a command printed, without the ends of lines that fit it to a terminal."""

from __future__ import annotations

import re


def unwrapped(text: str) -> str:
    """Join later lines of a sentence, which are indented, to the first one."""
    return re.sub(r"(?<=\S)\n {2,}(?=\S)", " ", text)


def last_line(text: str) -> str:
    """Return the verdict, which comes last."""
    return unwrapped(text).rstrip("\n").rpartition("\n")[2]
