"""What is wrong with a part of a `device_mapping`, and where in the text it stands."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple


class Place(NamedTuple):
    """The characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    `label` is what stands there, `better` what could stand there instead, "" if that is not known; `fails` tells whether ROLL is
    proved to fail or the text is not read at all, else it is a warning; `when` is when ROLL notices, as a sentence.
    """

    place: Place
    message: str
    label: str
    better: str = ""
    fails: bool = True
    when: str = ""


class Refused(Exception):
    """Raised where a text cannot be read on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Written:
    """The text that a syntax tree was made of; `shift` characters before it were left out."""

    def __init__(self, text: str, shift: int) -> None:
        self.text = text
        self._shift = shift
        self._lines = text[shift:].splitlines(keepends=True)
        self._starts = [shift]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def line_start(self, line: int) -> int:
        """The first character of a line (from 1)."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1]

    def at(self, line: int, column: int) -> int:
        """The character at a line (from 1) and a column in bytes, as Python's parser counts them."""
        if not 1 <= line <= len(self._lines):
            return len(self.text)
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode(errors="ignore"))

    def place(self, node: ast.expr) -> Place:
        """Where a node stands."""
        return Place(self.at(node.lineno, node.col_offset), self.at(node.end_lineno or node.lineno, node.end_col_offset or 0))

    def of(self, node: ast.expr) -> str:
        """The text of a node, cut short."""
        start, end = self.place(node)
        text = " ".join(self.text[start:end].split())
        return text if len(text) <= 40 else f"{text[:37]}..."
