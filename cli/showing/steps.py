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
    """Receiver of the steps of a launch; prints nothing."""

    def __call__(self, step: Step) -> None:
        """Receive a step."""

    def clear(self) -> None:
        """Erase a progress line before other output."""


@contextmanager
def shown_steps(way: str) -> Iterator[StepOutput]:
    """Yield the receiver of the steps of a launch, which prints to standard error."""
    shown = StepOutput() if way == NONE else _Lines() if way == PLAIN or not sys.stderr.isatty() else _OneLine()
    try:
        yield shown
    finally:
        shown.clear()


class _OneLine(StepOutput):
    """Progress line."""

    def __init__(self) -> None:
        self._line = ProgressLine()

    def __call__(self, step: Step) -> None:
        """Replace the line."""
        self._line.tell(escape(str(step)))

    def clear(self) -> None:
        """Erase the line."""
        self._line.end()


class _Lines(StepOutput):
    """Lines for new steps, for started components, and after `PATIENCE` seconds."""

    def __init__(self) -> None:
        self._words = ""
        self._whole: frozenset[str] = frozenset()
        self._last = 0.0

    def __call__(self, step: Step) -> None:
        """Print the step if it is news."""
        whole = frozenset(component for component, (ready, count) in step.up.items() if ready == count)
        if step.words == self._words and whole == self._whole and time.monotonic() - self._last < PATIENCE:
            return
        self._words, self._whole, self._last = step.words, whole, time.monotonic()
        click.echo(escape(str(step)), err=True)
