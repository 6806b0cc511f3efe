"""Where the figures of the numbers stand: written in a file, or the framework's own defaults."""

from __future__ import annotations

from pathlib import PurePath
from typing import Iterable

from ...models.derivation import Figure
from ..table import table

MAX_PLACE = 32
MAX_VALUE = 40
WIDTH = 100


class Footnotes:
    """Every figure once, with a number, in the order of being asked for. `file` is the file that is told of."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._numbers: dict[Figure, int] = {}

    def marks(self, figures: Iterable[Figure]) -> str:
        """`[1, 2]`; "" without figures."""
        numbers = [self._numbers.setdefault(figure, len(self._numbers) + 1) for figure in figures]
        return f"[{', '.join(map(str, numbers))}]" if numbers else ""

    def text(self) -> str:
        """One line a figure: its number, where it is written or that it is a default, the key and the value."""
        rows = [[f"[{number}]", self._place(figure), _said(figure)] for figure, number in self._numbers.items()]
        return table(rows, right=(0,), width=WIDTH) if rows else ""

    def _place(self, figure: Figure) -> str:
        span = figure.span
        if span is None:
            return "default" if figure.default else "-"
        if span.file.startswith("--"):  # an option of the command line, which is one line
            return span.file
        name = span.file if len(span.file) <= MAX_PLACE else PurePath(span.file).name
        return f"{name}:{span.line}"


def _said(figure: Figure) -> str:
    value = str(figure.value)
    shown = value if len(value) <= MAX_VALUE else value[: MAX_VALUE - 3] + "..."
    return f"{figure.name}: {shown}" + (f" ({figure.default})" if figure.default else "")
