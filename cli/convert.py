"""Verb `placewright convert`: the same job in another dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..models.dialect_names import DIALECTS
from ..report.conversion import render_json, summary
from .exit_codes import FINDINGS, INCOMPLETE, OK, UNUSABLE
from .options.shared import ReadOptions, form_option, level_option, source_options
from .options.standard_input import DASH
from .output.findings import echo_findings
from .output.text import echo

if TYPE_CHECKING:
    from ..models.report import Converted

EXIT_CODES = {"exact": OK, "lossy": OK, "refused": FINDINGS, "incomplete": INCOMPLETE, "unusable": UNUSABLE}


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--to", "target", type=click.Choice(list(DIALECTS), case_sensitive=False), required=True, help="The dialect of the new text.")
@source_options
@level_option
@click.option("-o", "--output", "output", metavar="OUT", help="Write the new text to this file; without it, to standard output.")
@click.option("--force", is_flag=True, help="Write over OUT if it is there already.")
@click.option("--strict", is_flag=True, help="Refuse where anything would be lost.")
@form_option
def convert(
    file: str, target: str, source: ReadOptions, output: str | None, force: bool, strict: bool, form: str,
) -> int:  # fmt: skip
    """Write the job of FILE in another dialect: ranks as ranks, hints as hints.

    The new text is read again and verified, and every process keeps its place. Losses and differences are listed on standard
    error (in the JSON as `losses`). A job that the other dialect cannot express is refused with the reason.

    \b
    placewright convert train.yaml --to native --cluster 2x8xH100
    placewright convert job.yaml --to rlinf -o train.yaml
    placewright convert job.yaml --to verl --framework verl==0.9.0
    """
    from ..solver.convert import convert as converted
    from .written import write_new

    output = None if output == DASH else output
    reading = source.load(file)
    conversion = converted(reading, target, strict, source.at(file).frameworks)
    code = EXIT_CODES[conversion.verdict]
    if output and not code:
        write_new(output, conversion.text, force)
    if form == "json":
        click.echo(render_json(conversion))
        return code
    _echo(conversion, reading.document.texts, output)
    return code


def _echo(conversion: Converted, texts: dict[str, str], output: str | None) -> None:
    """Print the new text to standard output, findings and summary to standard error."""
    findings = [*conversion.findings, *(() if conversion.findings else (*conversion.renames, *conversion.losses))]
    if findings:
        echo_findings(findings, err=True, texts=texts)
    if conversion.text and not output:
        click.echo(conversion.text, nl=False)
    echo(summary(conversion, output or ""), err=True)
