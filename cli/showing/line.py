"""One line on a terminal that renews itself and goes away again; what draws it is loaded with its first word."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Live

AUTO, PLAIN, NONE = WAYS = ("auto", "plain", "none")
"""How work is seen: as suits where it is seen, as lines, or not at all."""


class ProgressLine:
    """A line with a running clock, on standard error."""

    def __init__(self) -> None:
        self._live: Live | None = None

    def tell(self, text: str) -> None:
        """Renews the line."""
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
        """Takes the line away. May be called twice."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()
