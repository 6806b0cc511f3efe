"""Verb `placewright fit`: estimated times against those that a run measured."""

from __future__ import annotations

import sys

import click

from ..report.json import attributes, with_schema
from ..report.table import table
from ..report.terminal import escape
from .exit_codes import OK, UNUSABLE
from .options.shared import ReadOptions, form_option, level_option, source_options
from .options.solvable import solvable
from .options.standard_input import DASH
from .output.text import echo


@click.command()
@click.argument("metrics", metavar="METRICS")
@click.argument("file", metavar="FILE")
@source_options
@level_option
@form_option
def fit(metrics: str, file: str, source: ReadOptions, form: str) -> int:
    """Fit the estimated times of FILE to the METRICS of its run.

    It prints what to write into FILE.

    METRICS are the step metrics of verl or ROLL as JSON lines or log text, costs named as in RLinf's
    `profile_data`, or the JSON of `vllm bench serve`. FILE says on how many accelerators each component ran, and
    the `batch` of its plan. What was measured counts before what is fitted, and that before what is estimated.

    \b
    placewright fit train.log job.yaml
    """
    from ..models.performance.fit import factors, fit_times
    from ..models.performance.metrics import benchmarks, read_rows, rows_of, seconds_by_role

    if metrics == file == DASH:
        raise click.UsageError("standard input is read once: name a file for METRICS or for FILE")
    reading, code, _ = solvable(source.load(file), form)
    if reading is None or reading.problem is None:
        return code
    rows = rows_of(sys.stdin.read()) if metrics == DASH else read_rows(metrics)
    times = list(fit_times(reading.problem, seconds_by_role(rows), benchmarks(rows)))
    if form == "json":
        names = ("component", "phase", "accelerators", "measured", "estimated", "factor", "steps")
        data = [attributes(time, *names) for time in times]
        click.echo(with_schema(file=file, fitted=data, calibrate=factors(times)))
        return OK if times else UNUSABLE
    if not times:
        needs = "a component needs one count and a `model` in its `estimate`, and the plan a `batch`"
        echo(f"{escape(metrics)}: there are no seconds of a component of {escape(file)}; {needs}", err=True)
        return UNUSABLE
    heads = ["component", "accelerators", "phase", "steps", "measured", "estimated", "factor"]
    lines = [
        [
            time.component,
            *map(str, (time.accelerators, time.phase, time.steps)),
            f"{time.measured:.4g}",
            f"{time.estimated:.4g}",
            f"{time.factor:.2f}",
        ]
        for time in times
    ]
    echo(table([heads, *lines], right=(1, 3, 4, 5, 6)))
    of_iteration = [time for time in times if time.of_iteration]
    if of_iteration:
        echo("\nwrite what was measured into the components:")
    for time in of_iteration:
        echo(f"  {escape(time.component)}: {{seconds: {{{time.accelerators}: {time.measured:.4g}}}}}")
    pairs = ", ".join(f"{phase}: {factor:.2f}" for phase, factor in factors(times).items())
    echo(f"\nfor other counts and models, write into the plan:\n  calibrate: {{{pairs}}}")
    return OK
