"""Verb `placewright verify`: check the placements of files."""

from __future__ import annotations

import sys
from typing import Iterable

import click

from ..models.dialects.load import load_all, load_settings
from ..models.findings.finding import Finding, UnusableInput
from ..models.reading import Reading
from ..models.report import Report, exit_code
from ..planner.verify import verify as verdict_on
from ..report.terminal import wants_colour
from .asking.inputs import Inputs
from .asking.options import ReadOptions, formats_option, level_option, model_option, page_of, site_option, source_options


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER|KEY=VALUE...")
@source_options
@formats_option
@site_option
@click.option("--placements", is_flag=True, help="List every process, not only the sizes of the components.")
@click.option("--fix", is_flag=True, help="Make the edits that verify better, in all files or in none; then report what is left.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; write nothing. Exit code 1 if there is a change.")
@level_option
@model_option
def verify(files: tuple[str, ...], source: ReadOptions, form: str, site: str, placements: bool, fix: bool, diff: bool) -> int:
    """Check the placements of configuration files, without any cluster.

    Every fault is reported at its line, with its reason and a fix. An unusable file does not stop
    the
    others. Of a folder, the files that place something are checked.

    \b
    placewright verify train.yaml --cluster 2x8xH100
    placewright verify train.yaml --set cluster.num_nodes=4 --config-root configs
    placewright verify configs --cluster x8 --format github
    placewright verify configs --cluster x8 --fix
    placewright verify run_ppo.sh --cluster 2x8xH100
    placewright verify --dialect verl trainer.nnodes=2 trainer.n_gpus_per_node=8
    """
    if diff and (fix or form != "text"):
        raise click.UsageError("--diff prints a patch and writes nothing: leave out --fix and --format")
    inputs, how = Inputs(files), (source.machines, source.dialect, source.level)
    readings = inputs.readings(
        lambda file, folder: load_all(file, *how, source.composer.reading_in(folder)),
        lambda texts: load_settings(texts, *how, source.composer),
    )

    def judge(reading: Reading) -> Report:
        return verdict_on(source.with_model(reading))

    reports: Iterable[Report] = map(judge, readings)
    if fix or diff:
        from .fixing import fixed_files, print_diff, written

        fixed = fixed_files(readings, judge)
        if diff:
            return print_diff(fixed)
        reports = written(fixed)
    if form == "text":
        return exit_code(_echo_text(reports, inputs, placements))
    return _echo(form, reports, inputs, placements, site)


def _echo(form: str, reports: Iterable[Report], inputs: Inputs, placements: bool, site: str) -> int:
    """Print the reports in a format for programs, and return the exit code."""
    from ..report.results import VerifyResults, render

    printed, findings = list[Report](), tuple[Finding, ...]()
    try:
        printed += reports
    except UnusableInput as problem:
        findings = problem.findings
    results = VerifyResults(printed, findings, inputs.skipped, placements, site, page_of)
    click.echo(render(form, results))
    return results.exit_code


def _echo_text(reports: Iterable[Report], inputs: Inputs, placements: bool) -> list[str]:
    from ..report.text import render, summary

    colour = wants_colour(sys.stdout)
    every = list[Report]()
    for report in reports:
        several = inputs.several or (report.program is not None and report.program.count > 1)
        click.echo(render(report, placements, sizes=not inputs.several, colour=colour) + ("\n" if several else ""), color=True)
        every.append(report)
    if inputs.several or len(every) > 1:
        click.echo(summary(every, inputs.skipped, colour), color=True)
    return [report.verdict for report in every]
