"""How a search is seen while it runs: one line that renews itself on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

import click

from ...report.progress import standing
from .line import NONE, PLAIN, Line

if TYPE_CHECKING:
    from ...solver.searching.progress import OnProgress, Progress


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
        line = Line()
        try:
            yield _from_the_first_doubt(lambda progress: line.tell(standing(progress.plan, progress.refuted)))
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
