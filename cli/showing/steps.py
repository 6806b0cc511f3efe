"""How a launch is seen while it comes about: one line that renews itself on a terminal, lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator

import click

from ...report.terminal import escape
from .line import NONE, PLAIN, ProgressLine

if TYPE_CHECKING:
    from ...runtime.progress import Step

PATIENCE = 10.0
"""Seconds after which a line says again how many workers are ready."""


class StepOutput:
    """What is told every step of a launch, and shows nothing of it."""

    def __call__(self, step: Step) -> None:
        """A step is taken."""

    def clear(self) -> None:
        """Something else is about to be printed; what renews itself goes away until the next step."""


@contextmanager
def shown_steps(way: str) -> Iterator[StepOutput]:
    """What is to be told of every step of a launch. All of it goes to standard error.

    `auto` is one line that goes away again on a terminal, and lines that stay elsewhere.
    """
    shown = StepOutput() if way == NONE else _Lines() if way == PLAIN or not sys.stderr.isatty() else _OneLine()
    try:
        yield shown
    finally:
        shown.clear()


class _OneLine(StepOutput):
    """A line that renews itself."""

    def __init__(self) -> None:
        self._line = ProgressLine()

    def __call__(self, step: Step) -> None:
        """Renews the line."""
        self._line.tell(escape(str(step)))

    def clear(self) -> None:
        """Takes the line away."""
        self._line.end()


class _Lines(StepOutput):
    """A line for each step, for each component whose workers are all ready, and for every so many seconds between."""

    def __init__(self) -> None:
        self._words = ""
        self._whole: frozenset[str] = frozenset()
        self._last = 0.0

    def __call__(self, step: Step) -> None:
        """Prints the step if it says something new."""
        whole = frozenset(component for component, (ready, count) in step.up.items() if ready == count)
        if step.words == self._words and whole == self._whole and time.monotonic() - self._last < PATIENCE:
            return
        self._words, self._whole, self._last = step.words, whole, time.monotonic()
        click.echo(escape(str(step)), err=True)
