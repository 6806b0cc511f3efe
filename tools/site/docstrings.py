"""Griffe extension: docstrings of this project in the form that mkdocstrings knows.

Here a parameter is ``name : what it is`` on one line, which numpydoc takes for its type, and a paragraph may follow the
parameters, which numpydoc takes for one more.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"(Parameters|Attributes)\n-+")
_ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.+)", re.DOTALL)


class Docstrings(griffe.Extension):
    """Extension that rewrites docstrings when they are read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = numpydoc(obj.docstring.value)


def numpydoc(text: str) -> str:
    """Return a docstring with names above indented texts, after its other paragraphs."""
    paragraphs, sections = [], []
    title = ""
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if _SECTION.fullmatch("\n".join(lines[:2])):
            title = "\n".join(lines[:2])
            entries = lines[2:]
        elif title and (lines[0][:1] == " " or _ENTRY.fullmatch(lines[0])):
            entries = lines
        else:
            title = ""
            paragraphs.append(paragraph)
            continue
        sections.append((title, [_entry(line) for line in entries]))
    for title, entries in sections:
        paragraphs.append("\n".join([title, *entries]))
    return "\n\n".join(paragraphs).replace("``", "`")


def _entry(line: str) -> str:
    match = _ENTRY.fullmatch(line)
    return f"{match[1]}\n    {match[2]}" if match else line
