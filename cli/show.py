"""Verb `placewright show`: a picture of a plan, or of the placements of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..models.findings.finding import UnusableInput, error
from ..report.terminal import escape
from .exit_codes import OK
from .options.answers import Previous, previous_options
from .options.shared import ReadOptions, level_option, limit_option, model_option, source_options
from .options.solvable import code_without_plan, solvable
from .options.standard_input import DASH, STANDARD_INPUT, plan_file_in
from .output.findings import echo_findings
from .output.plan import account_of
from .output.progress import AUTO, show_progress
from .output.text import echo
from .written import write_text

if TYPE_CHECKING:
    from ..models.placements.plan import Plan
    from ..models.placements.plan_file import PlanFile
    from ..report.picture.page import Picture

ENDINGS = (".svg", ".html")
NO_TIMES = "no seconds in this plan: give the job's file for a timeline"


@click.command()
@click.argument("file", metavar="FILE|PLAN")
@source_options
@click.option("-o", "--output", "output", metavar="FILE.svg|FILE.html", help="Write an SVG, or an HTML page, to this file.")
@limit_option
@level_option
@model_option
@previous_options
def show(file: str, source: ReadOptions, output: str | None, limit: float, previous: Previous) -> int:
    """Draw who holds which accelerator; with times also who works when, memory and alternatives.

    FILE is a configuration, solved where it leaves ranks open, or a plan that `solve -o` wrote.
    Without -o the grid is printed. The HTML page is one file, loads nothing, and needs the extra `report`.

    \b
    placewright show train.yaml --cluster 2x8xH100
    placewright show train.yaml --cluster 2x8xH100 -o plan.html
    placewright show plan.json -o plan.svg
    placewright show train.yaml --previous plan.json --lose node-3 -o moved.html
    """
    if output is not None and not output.endswith(ENDINGS):
        raise click.UsageError(f"`{output}` does not say what to draw: end its name in .svg or .html")
    plan_file = plan_file_in(file)
    code, picture = _of_file(file, source, limit, previous) if plan_file is None else (OK, _of_plan(file, plan_file, previous))
    if picture is None:
        return code
    if output is None:
        from ..report.grid import grid
        from ..report.solution import blocks_of
        from ..report.table import components_table

        blocks = (grid(picture.plan), components_table(picture.plan), *blocks_of(picture.plan, picture.moves))
        echo("\n\n".join((*blocks, f"{escape(picture.title)}: {picture.verdict}")))
        return code
    write_text(output, _draw(picture, output))
    echo(f"{escape(picture.title)}: {picture.verdict}; picture in {escape(output)}")
    return code


def _draw(picture: Picture, output: str) -> str:
    from ..report.picture.page import to_html, to_svg

    if output.endswith(".svg"):
        return to_svg(picture)
    try:
        return to_html(picture)
    except ModuleNotFoundError as problem:
        add = f'`pip install "placewright[report]"`, or write an SVG: `-o {Path(output).stem}.svg`'
        raise UnusableInput([error("PW001", "", f"an HTML page needs `{problem.name}`, which is not installed", help=add)]) from None


def _of_plan(file: str, content: PlanFile, previous: Previous) -> Picture:
    from ..report.picture.page import Picture
    from ..report.solution import to_json

    if previous.is_asked:
        raise click.UsageError("a plan is drawn as it is: for --previous and --lose name its configuration")
    plan, moves = content
    title = STANDARD_INPUT if file == DASH else file
    return Picture(title, _verdict(plan), plan, plan.degrees, moves=moves, data=to_json(plan, moves), note=NO_TIMES)


def _of_file(file: str, source: ReadOptions, limit: float, previous: Previous) -> tuple[int, Picture | None]:
    reading, code, before = solvable(source.with_model(source.load(file).to_solve), "text")
    if reading is None or reading.problem is None:
        return code, None
    file = reading.source.name
    from ..api import solver
    from ..planner.placing import choose, decide
    from ..report.picture.page import Picture
    from ..report.solution import to_json
    from ..solver.session import Session

    problem = previous.near_plan(reading.problem, reading)
    with Session() as session:
        with show_progress(AUTO) as sinks:
            answer = solver(limit, 1, True, sinks.of_placements, reading=reading, counting=sinks.of_counts, session=session)(problem)
        if findings := [finding for finding in reading.document.environment.conceal(answer.findings) if finding not in before]:
            echo_findings(findings, err=True, texts=reading.document.texts)
        if answer.plan is None:
            echo(f"{escape(file)}: {answer.verdict}", err=True)
            return code_without_plan(answer), None
        solves = solver(limit, 1, reading=reading, session=session)
        moves = previous.moves(decide(problem, answer), choose(problem, answer), answer.plan, solves)
        account = account_of(problem, answer, limit, solves, verbose=True)
    data = to_json(answer.plan, moves, account.data, answer.findings, answer.unchecked, file)
    as_read = {component.name: component.parallel for component in choose(problem, answer).components if component.parallel.replica > 1}
    degrees = {**as_read, **answer.plan.degrees}
    return code, Picture(file, _verdict(answer.plan), answer.plan, degrees, account.account, moves, previous.plan, data)


def _verdict(plan: Plan) -> str:
    from ..report.progress import distance

    how = {"verified": "verified, its ranks are given", "optimal": "optimal"}.get(plan.status) or f"{plan.status}, {distance(plan)}"
    return f"{how}; {plan.digest[:19]}"
