"""Choice of colour: `--color`, the environment, the terminal."""

from __future__ import annotations

from typing import Any, Callable, TextIO

import click

from ...report.terminal import wants_colour as wanted_by_terminal

_CHOICES = {"auto": None, "always": True, "never": False}


def color_option(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--color` to a verb, for all that the command prints."""
    help_ = "Colour of the output; auto: on a terminal, or with FORCE_COLOR, and never with NO_COLOR."
    option = click.option("--color", type=click.Choice(list(_CHOICES)), default="auto", expose_value=False, callback=_choose, help=help_)
    return option(verb)


def _choose(ctx: click.Context, param: click.Parameter, word: str) -> None:
    if word != "auto":
        ctx.color = _CHOICES[word]


def wants_colour(stream: TextIO) -> bool:
    """Return True if the output to a stream is to have colour."""
    context = click.get_current_context(silent=True)
    choice = context.color if context is not None else None
    return wanted_by_terminal(stream) if choice is None else choice
