"""Verb `placewright solve`: placements for files with hints instead of ranks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Mapping

import click

from ..models.findings.finding import Finding, Severity, UnusableInput
from ..report.terminal import escape
from .exit_codes import FINDINGS, OUR_FAULT, UNUSABLE
from .options.answers import ExtraOptions, Previous, further_options, previous_options
from .options.shared import ReadOptions, form_option, level_option, model_option, search_options, source_options
from .options.solvable import code_without_plan, is_our_fault, solvable
from .options.standard_input import DASH
from .output.colour import wants_colour
from .output.findings import echo_findings
from .output.plan import account_of
from .output.progress import AUTO, WAYS, show_progress
from .output.text import echo
from .written import write_edits, write_new

if TYPE_CHECKING:
    from ..models.answer import Answer
    from ..models.problem import Problem
    from ..models.reading import Reading


@click.command()
@click.argument("file", metavar="FILE")
@source_options
@click.option("-o", "--output", "output", metavar="PLAN", help="Write the plan to this file, as JSON; - for standard output.")
@click.option("--write", is_flag=True, help="Write the placements into FILE itself; without it the difference is only shown.")
@search_options
@click.option(
    "--progress", type=click.Choice(WAYS), default=AUTO, show_default=True, help="A line on a terminal, lines for a log, or none."
)
@form_option
@click.option("--placements", is_flag=True, help="List every process, not only the sizes of the components.")
@click.option("-v", "--verbose", is_flag=True, help="Show all that is known of a plan by time: who works when, memory, what times rest on.")
@level_option
@model_option
@previous_options
@further_options
def solve(
    file: str, source: ReadOptions, output: str | None, write: bool, limit: float, seed: int, memory_limit: int, progress: str, form: str,
    placements: bool, verbose: bool, previous: Previous, further: ExtraOptions,
) -> int:  # fmt: skip
    """Find the best placement of everything that FILE leaves open.

    The answer is proved optimal or comes with its gap, and every answer is verified. An infeasible problem is reported with the
    sum that proves it. The search runs in its own process: Ctrl-C ends it with the best answer verified so far. What the search
    leaves of --limit, and 0.3 of it at least, shows where the plan changes if a hint is wrong.

    \b
    placewright solve train.yaml -o plan.json
    placewright solve train.yaml --cluster 4x8xH100 --write
    placewright solve train.yaml --previous plan.json --lose node-3
    placewright solve train.yaml --top 3 --why actor --why node-0:5
    """
    if output and Path(output).exists() and Path(file).exists() and Path(output).samefile(file):
        raise click.UsageError("-o names the configuration itself; name another file for the plan")
    prints_file = output == DASH or (write and file == DASH)
    if prints_file and (form == "json" or (output == DASH and write and file == DASH)):
        raise click.UsageError("only one thing can be written to standard output: name a file for the rest")
    reading, answer_code, before = solvable(source.with_model(source.load(file).to_solve), form)
    if reading is None or reading.problem is None:
        return answer_code
    from ..api import solver
    from ..planner.placing import choose, decide
    from ..planner.write_back import edits_of
    from ..report.solution import render, to_json
    from ..solver.sandbox.end_reasons import further_searches_stopped
    from ..solver.session import Session

    problem = further.limit(previous.near_plan(reading.problem, reading))
    with Session() as session:  # the first Ctrl-C ends every search here; the results so far are shown
        with show_progress(progress, form == "json", _costs(problem)) as sinks:
            answer = solver(limit, seed, True, sinks.of_placements, memory_limit, reading, sinks.of_counts, session)(problem)
        if answer.plan is None:
            return _print_no_plan(reading, answer, form, before)
        findings = reading.document.environment.conceal(answer.findings)
        if findings:
            echo_findings(findings, err=True, texts=reading.document.texts)
        solves = solver(limit, seed, memory=memory_limit, reading=reading, session=session)
        final_problem = decide(problem, answer)
        moves = previous.moves(final_problem, choose(problem, answer), answer.plan, solves)
        blocks, data = further.report(final_problem, answer.plan, solves)
        account = account_of(problem, answer, limit, solves, verbose)
        if session.cancelled and not any(finding.code == "PW602" for finding in answer.findings):
            findings = (*findings, further_searches_stopped())
            echo_findings(findings[-1:], err=True)
    data |= account.data
    edits, file_findings = previous.writable(*edits_of(reading, answer))
    not_written: tuple[Finding, ...] = ()
    try:
        if output:
            write_new(output, to_json(answer.plan, moves), force=True)
        if write and edits:
            write_edits(file, reading, edits)
    except UnusableInput as fault:  # the answer is still shown
        not_written, output, write = fault.findings, "", False
        echo_findings(not_written, err=True)
    is_refused = write and any(finding.severity is Severity.ERROR for finding in file_findings)
    code = UNUSABLE if not_written else OUR_FAULT if is_our_fault(answer) else FINDINGS if is_refused else answer_code
    if form == "json":
        all_findings = (*before, *findings, *file_findings, *not_written)
        click.echo(to_json(answer.plan, moves, data, all_findings, answer.unchecked, reading.source.name), nl=False)
        return code
    text = render(
        reading, answer, edits, file_findings, placements, write, output or "", wants_colour(sys.stdout), moves, blocks,
        account.blocks, account.keeps, account.brief,
    )  # fmt: skip
    echo(text, prints_file)
    if write and edits and source.settings:
        echo("these ranks are those for the `--set` of this command: the job itself and every later command need the same", err=True)
    return code


def _costs(problem: Problem) -> Mapping[str, int]:
    """Return nanoseconds per MiB of each objective term; empty if traffic is no time."""
    if problem.job.planning.workload is None:
        return {}
    from ..planner.traffic import costs_of_traffic

    return costs_of_traffic(problem)


def _print_no_plan(reading: Reading, answer: Answer, form: str, before: tuple[Finding, ...]) -> int:
    file, findings = reading.source.name, reading.document.environment.conceal(answer.findings)
    findings = tuple(finding for finding in findings if finding not in before)
    if findings:
        echo_findings(findings, err=True, texts=reading.document.texts)
    if form == "json":
        from ..report.solution import without_plan

        click.echo(without_plan(file, answer.verdict, (*before, *findings)))
    echo(f"{escape(file)}: {answer.verdict}", err=True)
    return code_without_plan(answer)
