"""How a launch is seen while it comes about: one line that renews itself on a terminal, lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

import click

from ...report.terminal import escape
from .line import NONE, PLAIN, Line

if TYPE_CHECKING:
    from ...runtime.progress import OnStep, Step

PATIENCE = 10.0
"""Seconds after which a line says again how many workers are ready."""


@contextmanager
def shown_steps(way: str) -> Iterator[OnStep]:
    """What is to be told of every step of a launch. All of it goes to standard error.

    `auto` is one line that goes away again on a terminal, and lines that stay elsewhere.
    """
    if way == NONE:
        yield lambda step: None
    elif way == PLAIN or not sys.stderr.isatty():
        yield _Lines().tell
    else:
        line = Line()
        try:
            yield lambda step: line.tell(escape(str(step)))
        finally:
            line.end()


class _Lines:
    """A line for each step, for each component whose workers are all ready, and for every so many seconds between."""

    def __init__(self) -> None:
        self._words = ""
        self._whole: frozenset[str] = frozenset()
        self._last = 0.0

    def tell(self, step: Step) -> None:
        """Prints the step if it says something new."""
        whole = frozenset(component for component, (ready, count) in step.up.items() if ready == count)
        if step.words == self._words and whole == self._whole and time.monotonic() - self._last < PATIENCE:
            return
        self._words, self._whole, self._last = step.words, whole, time.monotonic()
        click.echo(escape(str(step)), err=True)
