"""`placewright whatif`: what a demand, a machine or a setting costs."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .exit_codes import OK
from .options.shared import ReadOptions, form_option, level_option, lose_option, model_option, search_options, source_options
from .options.solvable import code_without_plan, solvable
from .output.colour import wants_colour
from .output.text import echo

if TYPE_CHECKING:
    from ..models.answer import Answer
    from ..models.problem import Problem
    from ..models.reading import Reading


_NODES = "With nodes more: `2` or `+2` is two more like the largest, `+4x8xH100` four more of this form; or fewer: `-2` is two less."


@click.command()
@click.argument("file", metavar="FILE")
@source_options
@click.option("--drop", "drops", multiple=True, metavar="DEMAND", help="Without this demand, such as `actor.memory`; several times.")
@click.option("--nodes", "machines_changed", multiple=True, metavar="[+|-]NODES", help=_NODES)
@lose_option("Without these nodes, by name or rank.")
@search_options
@form_option
@level_option
@model_option
def whatif(
    file: str, source: ReadOptions, drops: tuple[str, ...], machines_changed: tuple[str, ...], losses: tuple[tuple[str, ...], ...],
    limit: float, seed: int, memory_limit: int, form: str,
) -> int:  # fmt: skip
    """Solve FILE as it is and with something changed: the price of every demand, of machines, of settings.

    Every --drop, --nodes and --lose is a change of its own; all --set together are one. Without any of them each demand of the
    file is dropped in turn.

    \b
    placewright whatif train.yaml
    placewright whatif job.yaml --drop actor.memory --drop "keep replica in rack"
    placewright whatif train.yaml --nodes +4x8xH100 --lose node-3,node-7
    placewright whatif train.yaml --set components.actor.accelerators=32
    """

    def read(source: ReadOptions) -> tuple[Reading | None, int]:
        return solvable(source.with_model(source.load(file).to_solve), form)[:2]

    reading, code = read(replace(source, settings=()))
    if reading is None or reading.problem is None:
        return code
    from ..solver.pricing.changes import drop_demands, vary_machines, without_each

    on_others = vary_machines(reading.problem, machines_changed, losses, reading)
    changes = [*drop_demands(reading.problem, drops), *on_others]
    variant = None
    if source.settings:
        variant, code = read(source)
        if variant is None or variant.problem is None:
            return code
        changes.append((" ".join(f"--set {setting}" for setting in source.settings), variant.problem))
    from ..api import solver
    from ..report.whatif import render, to_json
    from ..solver.pricing.price import price
    from ..solver.session import Session

    with Session(answers=False) as session:

        def solve(problem: Problem) -> Answer:
            file = variant if variant is not None and problem is variant.problem else reading
            answer = solver(limit, seed, memory=memory_limit, reading=file, session=session)(problem)
            return replace(answer, findings=file.document.environment.conceal(answer.findings))

        pricing = price(reading.problem, changes or without_each(reading.problem), solve)
    if form == "json":
        click.echo(to_json(reading.source.name, pricing))
    else:
        echo(render(reading.source.name, pricing, wants_colour(sys.stdout)))
    answers = [change.answer for change in pricing.after] if changes else [pricing.before]
    return max((code_without_plan(answer) for answer in answers if answer.plan is None), default=OK) or code
