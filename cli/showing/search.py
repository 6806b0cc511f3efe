"""How a search is seen while it runs: one line that renews itself on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Callable, Iterator, Mapping, NamedTuple

import click

from .line import NONE, PLAIN, ProgressLine

if TYPE_CHECKING:
    from ...planner.counting import OnCounting
    from ...solver.searching.progress import Incumbents, OnProgress


class SearchLine(NamedTuple):
    """Who is told of a search for placements, and of one for counts before it."""

    of_placements: OnProgress
    of_counts: OnCounting


@contextmanager
def shown(way: str, for_program: bool = False, costs: Mapping[str, int] | None = None) -> Iterator[SearchLine]:
    """Who is to be told of every progress, for as long as the search runs. All of it goes to standard error.

    `auto` is one line that goes away again, on a terminal only, and nothing where the answer is for a program. `costs`: see `standing`.
    """
    if way == PLAIN:
        yield _of_both(lambda text, seconds: click.echo(f"searching, {seconds:.1f} s: {text}", err=True), costs)
    elif way == NONE or for_program or not sys.stderr.isatty():
        yield SearchLine(lambda progress: None, lambda counted: None)
    else:
        line = ProgressLine()
        try:
            yield _of_both(lambda text, seconds: line.tell(text), costs)
        finally:
            line.end()


def _of_both(tell: Callable[[str, float], None], costs: Mapping[str, int] | None) -> SearchLine:
    from ...report.progress import counting, standing

    return SearchLine(
        _from_the_first_doubt(lambda progress: tell(standing(progress.plan, progress.refuted, costs), progress.seconds)),
        lambda counted: tell(counting(counted), counted.seconds),
    )


def _from_the_first_doubt(tell: OnProgress) -> OnProgress:
    """Tells nothing of what is proved at once."""
    doubt = False

    def report(progress: Incumbents) -> None:
        nonlocal doubt
        doubt = doubt or progress.gap != 0.0
        if doubt:
            tell(progress)

    return report
