"""`placewright explain`: what a code means, why it matters, and what mends it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..report.explain import list_to_json, pages_to_json, render, render_list
from ..report.page import read_page
from ..report.terminal import wants_colour
from ..solver.advice import ADVICE
from ..solver.rules import RULES

if TYPE_CHECKING:
    from ..report.page import Page


def _page(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[Page]:
    try:
        return [read_page(value, (*RULES, *ADVICE)) for value in values]
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from None


@click.command()
@click.argument("pages", nargs=-1, metavar="[CODE]...", callback=_page)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For a person or a program.")
def explain(pages: list[Page], form: str) -> int:
    """Say what a code means: the rule, a wrong and a right example, how to mend it. Without a code, list all codes.

    \b
    placewright explain PW102
    placewright explain
    """
    colour = wants_colour(sys.stdout)
    if form == "json":
        click.echo(pages_to_json(pages) if pages else list_to_json())
    else:
        click.echo("\n\n\n".join(render(page, colour) for page in pages) if pages else render_list(colour), color=True)
    return 0
