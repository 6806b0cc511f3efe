"""Locations of figures: places in a file, or defaults of the framework."""

from __future__ import annotations

from pathlib import PurePath
from typing import Iterable

from ...models.derivation import Figure
from ..table import table
from ..terminal import escape

MAX_VALUE, MAX_NAME = 40, 120
WIDTH = 100


class Footnotes:
    """Numbered footnotes, each figure once. `file` is the explained file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._numbers: dict[Figure, int] = {}

    def marks(self, figures: Iterable[Figure]) -> str:
        """Return `[1,2]`; "" without figures."""
        numbers = [self._numbers.setdefault(figure, len(self._numbers) + 1) for figure in figures]
        return f"[{','.join(map(str, numbers))}]" if numbers else ""

    def text(self) -> str:
        """Format a line per figure: number, place or default, key, value; "" without any.

        Lines are those of the explained file unless another one is named.
        """
        rows = [[f"[{number}]", self._place(figure), _figure_text(figure)] for figure, number in self._numbers.items()]
        return f"figures (lines of {escape(self._file)}):\n" + table(rows, right=(0,), width=WIDTH) if rows else ""

    def _place(self, figure: Figure) -> str:
        span = figure.span
        if span is None:
            return "default" if figure.default else "-"
        if span.file == self._file:
            return f"line {span.line}"
        # An option of the command line is one line.
        return span.file if span.file.startswith("--") else f"{PurePath(span.file).name}:{span.line}"


def _figure_text(figure: Figure) -> str:
    return f"{_cut(figure.name, MAX_NAME)}: {_cut(str(figure.value), MAX_VALUE)}" + (f" ({figure.default})" if figure.default else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
