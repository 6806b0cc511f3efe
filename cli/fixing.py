"""Options `--fix` and `--diff` of `placewright verify`."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import Iterable, Sequence

import click

from ..models.findings.wording import with_noun
from ..models.fixing import FixedFile, Judge, fix
from ..models.reading import Reading
from ..models.report import Report, exit_code
from ..report.diff import diff_of
from ..report.terminal import escape
from ..report.text import verdict
from .exit_codes import FINDINGS, UNUSABLE
from .options.standard_input import STANDARD_INPUT, UNNAMED
from .output.colour import wants_colour
from .output.text import echo
from .written import write_fixes


def fixed_files(readings: Iterable[Reading], judge: Judge) -> list[FixedFile]:
    """Fix every file in memory."""
    by_file = (tuple(group) for _, group in groupby(readings, key=lambda reading: reading.source.name))
    return [fix(group, judge) for group in by_file]


def write_fixed(files: Sequence[FixedFile]) -> list[Report]:
    """Write what was fixed and return the reports; print a fixed text.

    Raises UnusableInput.
    """
    edited_files = [file for file in files if file.count]
    write_fixes([file for file in edited_files if file.name not in UNNAMED])
    for file in files:
        if file.name in UNNAMED:
            click.echo(file.text, nl=file.name != STANDARD_INPUT)
    for file in edited_files:
        echo(f"{escape(file.name)}: {with_noun(file.count, 'edit')} made", err=True)
    return [report for file in files for report in file.reports]


def print_diff(files: Sequence[FixedFile]) -> int:
    """Print the patch, the verdicts with it on standard error, and return the exit code."""
    colour = wants_colour(sys.stdout)
    for file in files:
        if file.count:
            click.echo(diff_of(file.name, file.before, file.text, colour), color=True)
        for report in file.reports:
            with_edits = f" (with {with_noun(file.count, 'edit')})" if file.count else ""
            echo(verdict(report) + with_edits, err=True)
    code = exit_code(report.verdict for file in files for report in file.reports)
    return FINDINGS if any(file.count for file in files) and code != UNUSABLE else code
