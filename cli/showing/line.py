"""Progress line on a terminal; rich is loaded with the first text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Live

AUTO, PLAIN, NONE = WAYS = ("auto", "plain", "none")
"""Ways to show progress."""


class ProgressLine:
    """A line with a running clock, on standard error."""

    def __init__(self) -> None:
        self._live: Live | None = None

    def tell(self, text: str) -> None:
        """Replace the text."""
        if self._live is None:
            from rich.console import Console
            from rich.progress import Progress as Live
            from rich.progress import TextColumn, TimeElapsedColumn

            columns = TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
            self._live = Live(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
            self._live.add_task(text)
            self._live.start()
        self._live.update(self._live.task_ids[0], description=text)

    def end(self) -> None:
        """Erase the line; a second call does nothing."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()
