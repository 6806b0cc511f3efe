"""Verb `placewright explain`: the meaning of a code, or the needs of a configuration."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Callable

import click

from ..models.report import exit_code
from ..report.page import means_code
from ..report.terminal import wants_colour
from .asking.options import cluster_option, composing_arguments, dialect_option, level_option, model_option

if TYPE_CHECKING:
    from ..models.machines.cluster import Cluster
    from ..models.machines.shorthand import AsDeclared
    from ..models.model_cards import ModelCard
    from ..models.reading import Reading


@click.command()
@click.argument("subjects", nargs=-1, metavar="[CODE|FILE]...")
@cluster_option
@dialect_option
@composing_arguments
@level_option
@model_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For a person or a program.")
def explain(
    subjects: tuple[str, ...],
    machines: Cluster | AsDeclared | None,
    dialect: str,
    settings: tuple[str, ...],
    roots: tuple[str, ...],
    allowed: tuple[str, ...],
    frameworks: tuple[str, ...],
    level: str,
    model: ModelCard | None,
    form: str,
) -> int:
    """Say what a configuration comes to, or what a code means. Without either, list all codes.

    Of a file: the accelerators and nodes it needs, the components that share accelerators, and
    every
    derived number with its formula and the places of its inputs. Of a code: the rule, a wrong and a
    right example, and the fix.

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
    from ..models.composition import Composer
    from ..models.dialects.load import load
    from ..models.resolving import with_models

    composer = Composer(roots, settings, allowed, frameworks)

    def read(file: str, machines: Cluster | AsDeclared | None) -> Reading:
        reading = load(file, machines, dialect=dialect, level=level, composer=composer)
        return with_models(reading, model) if model else reading

    return _files(subjects, machines, read, form, level)


def _codes(codes: list[str], form: str) -> int:
    from ..report.explain import list_to_json, pages_to_json, render, render_list
    from ..report.page import read_page
    from ..solver.advice import ADVICE
    from ..solver.rules import RULES

    try:
        pages = [read_page(code, (*RULES, *ADVICE)) for code in codes]
    except ValueError as problem:
        raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'[CODE|FILE]...'") from None
    colour = wants_colour(sys.stdout)
    if form == "json":
        click.echo(pages_to_json(pages) if pages else list_to_json())
    else:
        click.echo("\n\n\n".join(render(page, colour) for page in pages) if pages else render_list(colour), color=True)
    return 0


def _files(files: tuple[str, ...], machines: Cluster | AsDeclared | None, load: Callable[..., Reading], form: str, level: str) -> int:
    from ..planner.accounting import explain as explanation_of

    explanations = [explanation_of(load(file, machines), partial(load, file)) for file in files]
    if form == "json":
        from ..report.explanation.data import render as to_json

        click.echo(to_json(explanations))
    else:
        from ..report.explanation.text import render as to_text

        colour = wants_colour(sys.stdout)
        click.echo("\n\n\n".join(to_text(explanation, colour, level) for explanation in explanations), color=True)
    return exit_code(explanation.report.verdict for explanation in explanations)
