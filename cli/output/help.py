"""Help that fits narrow terminals."""

from __future__ import annotations

from typing import Iterable

import click

from ...report.wrapping import COLUMNS

MOST = 80
"""Columns of help in a wide terminal, as click has them."""
NARROW = 60
"""Columns below which what explains an option is under the option, not beside it."""


class NarrowHelp(click.HelpFormatter):
    """Formatter of click for the columns of the terminal, also below 50."""

    def __init__(self) -> None:
        super().__init__(width=min(COLUMNS.get(), MOST) - 2)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names with their texts."""
        super().write_dl(rows, col_max if self.width >= NARROW else 2, col_spacing)


class HelpContext(click.Context):
    """Context of every verb."""

    def make_formatter(self) -> click.HelpFormatter:
        """Return the formatter of its help."""
        return NarrowHelp()
