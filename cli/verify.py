"""Verb `placewright verify`: check the placements of files."""

from __future__ import annotations

import sys
from typing import Iterable

import click

from ..models.dialects.load import load_all, load_settings
from ..models.findings.finding import Finding, UnusableInput
from ..models.report import UNUSABLE, Report, exit_code
from ..planner.verify import verify as verdict_on
from ..report.terminal import wants_colour
from .asking.inputs import Inputs
from .asking.options import ReadOptions, form_option, level_option, model_option, source_options


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|FOLDER|KEY=VALUE...")
@source_options
@form_option
@click.option("--placements", is_flag=True, help="List every process, not only the sizes of the components.")
@level_option
@model_option
def verify(files: tuple[str, ...], source: ReadOptions, form: str, placements: bool) -> int:
    """Check the placements of configuration files, without any cluster.

    Every fault is reported at its line, with its reason and a fix. An unusable file does not stop
    the
    others. Of a folder, the files that place something are checked.

    \b
    placewright verify train.yaml --cluster 2x8xH100
    placewright verify train.yaml --set cluster.num_nodes=4 --config-root configs
    placewright verify configs --cluster x8 --format json
    placewright verify run_ppo.sh --cluster 2x8xH100
    placewright verify --dialect verl trainer.nnodes=2 trainer.n_gpus_per_node=8
    """
    inputs, how = Inputs(files), (source.machines, source.dialect, source.level)
    readings = inputs.readings(
        lambda file, folder: load_all(file, *how, source.composer.reading_in(folder)),
        lambda texts: load_settings(texts, *how, source.composer),
    )
    reports = (verdict_on(source.with_model(reading)) for reading in readings)
    verdicts = _echo_json(reports, inputs, placements) if form == "json" else _echo_text(reports, inputs, placements)
    return exit_code(verdicts)


def _echo_json(reports: Iterable[Report], inputs: Inputs, placements: bool) -> list[str]:
    from ..report.json import render

    printed, findings = list[Report](), tuple[Finding, ...]()
    try:
        printed += reports
    except UnusableInput as problem:
        findings = problem.findings
    click.echo(render(printed, placements, findings, inputs.skipped))
    return [*(report.verdict for report in printed), *(UNUSABLE for _ in findings)]


def _echo_text(reports: Iterable[Report], inputs: Inputs, placements: bool) -> list[str]:
    from ..report.text import render, summary

    colour = wants_colour(sys.stdout)
    every = list[Report]()
    for report in reports:
        several = inputs.several or (report.program is not None and report.program.count > 1)
        click.echo(render(report, placements, sizes=not inputs.several, colour=colour) + ("\n" if several else ""), color=True)
        every.append(report)
    if inputs.several or len(every) > 1:
        click.echo(summary(every, inputs.skipped, colour, inputs.broken), color=True)
    return [report.verdict for report in every]
