"""Text for a person, which fits the terminal."""

from __future__ import annotations

import sys

import click

from ...report.wrapping import columns_of, fit_columns


def echo(text: str, err: bool = False) -> None:
    """Print a text, on standard error if `err`; its colours stay as they are."""
    click.echo(fit_columns(text, columns_of(sys.stderr if err else sys.stdout)), err=err, color=True)
