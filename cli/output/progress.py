"""Progress of a search or a launch: a line renewed on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator, Mapping, NamedTuple

import click

from ...report.terminal import escape

if TYPE_CHECKING:
    from rich.progress import Progress as Live

    from ...planner.search.found import OnCounting
    from ...runtime.progress import Step
    from ...solver.searching.progress import Incumbents, OnProgress


class SearchLine(NamedTuple):
    """Progress listeners of a search for placements, and of the counts before it."""

    of_placements: OnProgress
    of_counts: OnCounting


AUTO, PLAIN, NONE = WAYS = ("auto", "plain", "none")
"""Ways to show progress."""


@contextmanager
def show_progress(style: str, for_program: bool = False, costs: Mapping[str, int] | None = None) -> Iterator[SearchLine]:
    """Yield the receivers of progress, on standard error; `costs` as in `describe_incumbent`."""
    from ...report.progress import counting, describe_incumbent

    visible = style == PLAIN or (style == AUTO and sys.stderr.isatty() and not for_program)
    with shown_steps(style if visible else NONE) as output:
        yield SearchLine(
            _hide_proved(lambda progress: output.show(describe_incumbent(progress.plan, progress.refuted, costs), progress.seconds)),
            lambda counted: output.show(counting(counted), counted.seconds),
        )


def _hide_proved(show: OnProgress) -> OnProgress:
    """Return a receiver that shows nothing while the answer is proved optimal."""
    doubt = False

    def report(progress: Incumbents) -> None:
        nonlocal doubt
        doubt = doubt or progress.gap != 0.0
        if doubt:
            show(progress)

    return report


class StepOutput:
    """Receiver of steps of a launch and of the progress of a search; prints nothing."""

    def __call__(self, step: Step) -> None:
        """Receive a step."""

    def show(self, text: str, seconds: float) -> None:
        """Receive the state of a search after some seconds."""

    def clear(self) -> None:
        """Erase a progress line before other output."""


class ProgressLine(StepOutput):
    """Line with a running clock, on standard error."""

    def __init__(self) -> None:
        self._live: Live | None = None

    def show(self, text: str, seconds: float = 0.0) -> None:
        """Replace the text; the line has a clock of its own."""
        if self._live is None:
            from rich.console import Console
            from rich.progress import Progress as Live
            from rich.progress import TextColumn, TimeElapsedColumn

            columns = TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
            self._live = Live(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
            self._live.add_task(text)
            self._live.start()
        self._live.update(self._live.task_ids[0], description=text)

    def __call__(self, step: Step) -> None:
        """Replace the text by a step."""
        self.show(escape(str(step)))

    def clear(self) -> None:
        """Erase the line; a second call does nothing."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()


PATIENCE = 10.0
"""Seconds after which a line says again how many workers are ready."""


@contextmanager
def shown_steps(style: str) -> Iterator[StepOutput]:
    """Yield the receiver of the steps of a launch, which prints to standard error."""
    output = StepOutput() if style == NONE else _Lines() if style == PLAIN or not sys.stderr.isatty() else ProgressLine()
    try:
        yield output
    finally:
        output.clear()


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

    def show(self, text: str, seconds: float) -> None:
        """Print the state of a search."""
        click.echo(f"searching, {seconds:.1f} s: {text}", err=True)
