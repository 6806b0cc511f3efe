"""Verb `placewright verify`: check the placements of files."""

from __future__ import annotations

import sys
from typing import Iterable

import click

from ..models.dialects.load import load_all, load_settings
from ..models.findings.finding import Finding, UnusableInput
from ..models.findings.selection import CodeSelection
from ..models.reading import Reading
from ..models.report import Report, exit_code
from ..models.text.source import Source
from ..planner.verify import verify as verdict_on
from .options.inputs import Inputs
from .options.selection import selection_options
from .options.shared import ReadOptions, formats_option, level_option, model_option, site_option, source_options
from .options.standard_input import UNNAMED, TakesCommand
from .output.colour import color_option, wants_colour
from .output.text import echo


@click.command(cls=TakesCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER|-|KEY=VALUE|COMMAND...")
@source_options
@formats_option
@site_option
@click.option("--placements", is_flag=True, help="List every process, not only the sizes of the components.")
@click.option("--fix", is_flag=True, help="Make the edits that verify better, in all files or in none; then report what is left.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; write nothing. Exit code 1 if there is a change.")
@selection_options
@click.option("-q", "--quiet", is_flag=True, help="Print errors and what is not ok; nothing if all is ok.")
@click.option("-v", "--verbose", is_flag=True, help="Show every file with its findings and sizes, and the findings that are ignored.")
@color_option
@level_option
@model_option
def verify(
    files: tuple[str, ...], source: ReadOptions, form: str, site: str, placements: bool, fix: bool, diff: bool, selection: CodeSelection,
    warnings_as_errors: bool, quiet: bool, verbose: bool,
) -> int:  # fmt: skip
    """Check the placements of configuration files, without any cluster.

    Every fault is reported at its line, with its reason and a fix. An unusable file does not stop the others. Of a folder, the
    files that place something are checked.

    \b
    placewright verify train.yaml --cluster 2x8xH100
    placewright verify train.yaml --set cluster.num_nodes=4 --config-root configs
    placewright verify configs --cluster x8 --format github
    placewright verify configs --cluster x8 --fix
    placewright verify configs --cluster x8 -q --ignore PW8 --warnings-as-errors
    placewright verify run_ppo.sh --cluster 2x8xH100
    placewright verify --dialect verl trainer.nnodes=2 trainer.n_gpus_per_node=8
    placewright verify --cluster 2x8 -- python3 -m verl.trainer.main_ppo ...
    cat train.yaml | placewright verify - --cluster 2x8
    """
    if diff and (fix or form != "text"):
        raise click.UsageError("--diff prints a patch and writes nothing: leave out --fix and --format")
    if quiet and verbose:
        raise click.UsageError("-q and -v exclude each other")
    inputs = Inputs(files)

    def load_file(file: str | Source, folder: str | None) -> list[Reading]:
        file_source = source.at(file)
        return load_all(file, file_source.machines, file_source.dialect, file_source.level, file_source.composer.reading_in(folder))

    readings = inputs.readings(
        load_file, lambda texts: load_settings(texts, source.machines, source.dialect, source.level, source.composer)
    )

    def judge(reading: Reading) -> Report:
        return verdict_on(source.with_model(reading), selection)

    reports: Iterable[Report] = map(judge, readings)
    err = False
    if fix or diff:
        from .fixing import fixed_files, print_diff, write_fixed

        fixed_texts = fixed_files(readings, judge)
        if diff:
            return print_diff(fixed_texts)
        reports, err = write_fixed(fixed_texts), any(file.name in UNNAMED for file in fixed_texts)
    if warnings_as_errors:
        reports = map(Report.with_warnings_as_errors, reports)
    if form == "text":
        return exit_code(_echo_text(reports, inputs, placements, quiet, verbose, err))
    return _echo(form, reports, inputs, placements, site)


def _echo(form: str, reports: Iterable[Report], inputs: Inputs, placements: bool, site: str) -> int:
    """Print the reports in a format for programs, and return the exit code."""
    from ..report.results import VerifyResults, render
    from .pages import page_text

    visible_reports, findings = list[Report](), tuple[Finding, ...]()
    try:
        visible_reports += reports
    except UnusableInput as problem:
        findings = problem.findings
    results = VerifyResults(visible_reports, findings, inputs.skipped, placements, site, page_text)
    click.echo(render(form, results))
    return results.exit_code


def _echo_text(reports: Iterable[Report], inputs: Inputs, placements: bool, quiet: bool, verbose: bool, err: bool) -> list[str]:
    """Print the reports as text; of several files the causes alone, unless `verbose`."""
    colour = wants_colour(sys.stderr if err else sys.stdout)
    every = list[Report]()
    if inputs.several and not (verbose or placements):
        from ..report.many import render as render_many

        every += reports
        if text := render_many(every, inputs.skipped, quiet, colour, inputs.broken):
            echo(text, err)
        return [report.verdict for report in every]
    from ..report.text import is_plain_ok, render, render_brief, render_findings, summary

    for report in reports:
        every.append(report)
        several = inputs.several or (report.program is not None and report.program.count > 1)
        text = render_brief(report, colour) if quiet else render(report, placements, sizes=not inputs.several, colour=colour)
        if verbose and report.ignored:
            ignored_text = render_findings([item.finding for item in report.ignored], report.texts, colour)
            text = f"ignored:\n\n{ignored_text}\n\n{text}"
        if text:
            echo(text + ("\n" if several else ""), err)
    if (len(every) > 1 or inputs.several) and not (quiet and all(map(is_plain_ok, every))):
        echo(summary(every, inputs.skipped, colour, inputs.broken), err)
    return [report.verdict for report in every]
