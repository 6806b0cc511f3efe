"""Verb `placewright explain`: the meaning of a code, or the needs of a configuration."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ..models.report import exit_code
from ..report.page import means_code
from .options.completion_words import codes
from .options.shared import ReadOptions, form_option, level_option, model_option, source_options
from .output.colour import wants_colour
from .output.text import echo

if TYPE_CHECKING:
    from ..models.machines.shorthand import DeclaredNodes
    from ..models.reading import Reading


@click.command()
@click.argument("subjects", nargs=-1, metavar="[CODE|FILE]...", shell_complete=codes)
@source_options
@level_option
@model_option
@form_option
def explain(subjects: tuple[str, ...], source: ReadOptions, form: str) -> int:
    """Explain what a configuration comes to, or what a code means. Without either, list all codes.

    Of a file: the accelerators and nodes it needs, the components that share accelerators, and every derived number with its
    formula and the places of its inputs. Of a code: the rule, a wrong and a right example, and the fix.

    \b
    placewright explain train.yaml
    placewright explain train.yaml --cluster 2x8xH100 --format json
    placewright explain train.yaml --model-config config.json
    placewright explain PW102
    """
    codes = [subject for subject in subjects if means_code(subject)]
    if codes and len(codes) < len(subjects):
        raise click.UsageError(f"`{codes[0]}` is a code and the rest are files: explain them one after the other")
    if len(codes) == len(subjects):
        return _codes(codes, form)
    return _files(subjects, source, form)


def _codes(codes: list[str], form: str) -> int:
    from ..report.explain import list_to_json, pages_to_json, render, render_list
    from .pages import page_of

    try:
        pages = [page_of(code) for code in codes]
    except ValueError as problem:
        raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'[CODE|FILE]...'") from None
    colour = wants_colour(sys.stdout)
    if form == "json":
        click.echo(pages_to_json(pages) if pages else list_to_json())
    else:
        echo("\n\n\n".join(render(page, colour) for page in pages) if pages else render_list(colour))
    return 0


def _files(files: tuple[str, ...], source: ReadOptions, form: str) -> int:
    from ..planner.accounting import explain as explanation_of

    def read(file: str, machines: DeclaredNodes | None = None) -> Reading:
        return source.with_model(source.load(file, machines))

    explanations = [explanation_of(read(file), partial(read, file)) for file in files]
    if form == "json":
        from ..report.explanation.data import render as to_json

        click.echo(to_json(explanations))
    else:
        from ..report.explanation.text import render as to_text

        colour = wants_colour(sys.stdout)
        echo("\n\n\n".join(to_text(explanation, colour, source.level) for explanation in explanations))
    return exit_code(explanation.report.verdict for explanation in explanations)
