"""How a search is seen while it runs: one line that renews itself on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

import click

from ..report.progress import standing

if TYPE_CHECKING:
    from rich.progress import Progress as Live

    from ..solver.searching.progress import OnProgress, Progress

AUTO, PLAIN, NONE = WAYS = ("auto", "plain", "none")


@contextmanager
def shown(way: str, for_program: bool = False) -> Iterator[OnProgress]:
    """What is to be told of every progress, for as long as the search runs. All of it goes to standard error.

    `auto` is one line that goes away again, on a terminal only, and nothing where the answer is for a program.
    """
    if way == PLAIN:
        yield _from_the_first_doubt(
            lambda progress: click.echo(f"searching, {progress.seconds:.1f} s: {standing(progress.plan, progress.refuted)}", err=True)
        )
    elif way == NONE or for_program or not sys.stderr.isatty():
        yield lambda progress: None
    else:
        line = _Line()
        try:
            yield _from_the_first_doubt(line.tell)
        finally:
            line.end()


def _from_the_first_doubt(tell: OnProgress) -> OnProgress:
    """Tells nothing of what is proved at once."""
    doubt = False

    def told(progress: Progress) -> None:
        nonlocal doubt
        doubt = doubt or progress.gap != 0.0
        if doubt:
            tell(progress)

    return told


class _Line:
    """A line with a running clock. What draws it is loaded with the first word."""

    def __init__(self) -> None:
        self._live: Live | None = None

    def tell(self, progress: Progress) -> None:
        """Renews the line."""
        text = standing(progress.plan, progress.refuted)
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
        """Takes the line away."""
        if self._live is not None:
            self._live.stop()
