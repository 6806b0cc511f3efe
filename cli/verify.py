"""`placewright verify`: are the placements of these files right?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Iterable

import click

from ..models.dialects.dialect import LEVELS
from ..models.dialects.load import load
from ..models.report import FAULTY, OK, UNUSABLE, Report
from ..report.terminal import wants_colour
from ..solver.verify import verify as verdict_on
from .options import cluster_option, composing_options, dialect_option

if TYPE_CHECKING:
    from ..models.cluster import Cluster
    from ..models.composition import Composer
    from ..models.shorthand import AsDeclared

EXIT_CODES = {OK: 0, FAULTY: 1, UNUSABLE: 2}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@cluster_option
@dialect_option
@composing_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For a person or a program.")
@click.option("--placements", is_flag=True, help="List every process, not only the sizes of the components.")
@click.option("--level", type=click.Choice(LEVELS), default="placement", show_default=True, help="How much is checked.")
def verify(
    files: tuple[str, ...], machines: Cluster | AsDeclared | None, dialect: str, composer: Composer, form: str, placements: bool,
    level: str,
) -> int:  # fmt: skip
    """Check the placements of configuration files, without any cluster.

    Every fault is reported at its line, with its reason and what mends it. An unusable file does not stop the others.

    \b
    placewright verify train.yaml --cluster 2x8xH100
    placewright verify configs/*.yaml --cluster x8 --format json
    """
    reports = (verdict_on(load(file, machines, dialect, level, composer)) for file in files)
    verdicts = _echo_json(reports, placements) if form == "json" else _echo_text(reports, placements, len(files) == 1)
    return max(EXIT_CODES[verdict] for verdict in verdicts)


def _echo_json(reports: Iterable[Report], placements: bool) -> list[str]:
    from ..report.json import render

    every = list(reports)
    click.echo(render(every, placements))
    return [report.verdict for report in every]


def _echo_text(reports: Iterable[Report], placements: bool, only_one: bool) -> list[str]:
    from ..report.text import render, summary

    colour = wants_colour(sys.stdout)
    every = []
    for report in reports:
        click.echo(render(report, placements, sizes=only_one, colour=colour) + ("" if only_one else "\n"), color=True)
        every.append(report)
    if not only_one:
        click.echo(summary(every, colour), color=True)
    return [report.verdict for report in every]
