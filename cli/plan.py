"""Verb `placewright plan`: from a model and a cluster to a plan, without a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..models.dialect_names import FRAMEWORKS
from ..models.findings.finding import Severity
from ..models.placements.assignment import Assignment
from ..models.planning.workload import SECOND
from ..models.quantity import write_estimate, write_memory
from ..report.terminal import escape
from .exit_codes import FINDINGS
from .options.job import DescribedJob, job_options
from .options.shared import form_option
from .options.solvable import code_without_plan, solvable
from .options.standard_input import DASH
from .output.colour import wants_colour
from .output.findings import echo_findings
from .output.plan import account_of
from .output.text import echo

if TYPE_CHECKING:
    from ..models.account import BlockBill

NAME = "plan.yaml"
_LIMIT = 10.0


@click.command()
@job_options
@click.option("-o", "--output", "output", metavar="FILE", help="Write the file with the plan in it.")
@click.option(
    "--framework",
    type=click.Choice(FRAMEWORKS, case_sensitive=False),
    help="Write a file of this framework, with the batches, which its newest release takes; default: a native file.",
)
@click.option("--force", is_flag=True, help="Write over FILE if it is there already.")
@click.option("-v", "--verbose", is_flag=True, help="Show all that is known of the plan: who works when, memory, what times rest on.")
@form_option
def plan(job: DescribedJob, output: str | None, force: bool, verbose: bool, form: str) -> int:
    """Plan a job that is known by its model, its cluster and its algorithm: no file is needed.

    Times and memory are estimated, each with a low and a high. `init` writes the file behind it, where what you
    measured counts before the estimates. The exit code is 1 if what is likely does not fit.

    \b
    placewright plan --model Qwen/Qwen2.5-7B-Instruct --cluster 4x8xH100 \\
      --prompts 1024 --samples 8 --response 4096
    placewright plan --model Qwen/Qwen2.5-7B-Instruct --cluster 4x8xH100 \\
      --prompts 1024 --response 4096 --framework verl -o run.sh
    """
    from ..api import solver
    from ..models.dialects.load import read
    from ..models.findings.span import apply_edits
    from ..models.text.source import Source
    from ..planner.write_back import edits_of
    from ..report.solution import render, to_json
    from ..solver.session import Session
    from ..solver.verify import verify
    from .written import must_be_new, write_new

    if output and not force:
        must_be_new(output)
    if output == DASH and form == "json":
        raise click.UsageError("only one thing can be written to standard output: name a file for the rest")
    draft = read(Source(NAME, job.text), dialect="native").to_solve
    reading, code, before = solvable(draft, form)
    if reading is None or reading.problem is None:
        if any(finding.code == "PW805" for finding in verify(draft).errors):
            _echo_least(job)
        return code
    with Session() as session:
        solves = solver(_LIMIT, 1, reading=reading, session=session)
        answer = solves(reading.problem)
        if answer.findings:
            echo_findings(answer.findings, err=True, texts=reading.document.texts)
        if any(finding.code == "PW805" and finding.severity is Severity.WARNING for finding in answer.findings):
            _echo_least(job)
        if answer.plan is None:
            return code_without_plan(answer)
        account = account_of(reading.problem, answer, _LIMIT, solves, verbose)
    bills = account.account.bills if account.account else ()
    if any(bill.capacity and bill.peak.mebibytes > bill.capacity for bill in bills):
        code = FINDINGS
    edits, of_file = edits_of(reading, answer)
    text = job.file_of(apply_edits(job.text, edits))
    if output:
        write_new(output, text, force)
    if form == "json":
        click.echo(to_json(answer.plan, None, account.data, (*before, *answer.findings, *of_file), answer.unchecked, NAME), nl=False)
        return code
    idle = _idle_of(job, answer.planned.price[0] / SECOND, answer.plan.assignment) if answer.planned else []
    blocks = [
        *account.blocks,
        "\n".join([*map(_memory_of, bills), *_network_of(job), *idle]),
        f"written: {escape(output)}\nrun it: `{escape(job.command_of(output))}`"
        if output and output != DASH
        else f"the file of {job.framework}:"
        if job.framework
        else "next: `init` with the same options and `-o job.yaml`, then write there what you measured, and `placewright solve job.yaml --write`",
    ]
    echo(
        render(reading, answer, [], of_file, False, False, "", wants_colour(sys.stdout), None, (), blocks, brief=account.brief),
        output == DASH,
    )
    if job.framework and not output:
        click.echo(f"\n{text}", nl=False)
    return code


def _echo_least(job: DescribedJob) -> None:
    """Print the fewest nodes that have a plan that fits, with its seconds."""
    from ..models.dialects.native.from_model import add_nodes, enough_nodes

    most, nodes, price = enough_nodes(job.request, job.cluster, job.limits), len(job.cluster.nodes), None
    too_few = nodes
    while price is None and most is not None and nodes < 2 * most:  # `most` about suffices
        too_few, nodes = nodes, 2 * nodes
        price = _plan(job.change(add_nodes(job.cluster, nodes)))
    if price is None:
        echo("by the estimates it fits on no number of these nodes: use accelerators with more memory, or a shorter --response", err=True)
        return
    while nodes - too_few > 1:
        middle = (too_few + nodes) // 2
        fewer = _plan(job.change(add_nodes(job.cluster, middle)))
        nodes, price, too_few = (middle, fewer, too_few) if fewer else (nodes, price, middle)
    echo(f"by the estimates it fits on {nodes} nodes like these: {price[0]:.4g} seconds an iteration", err=True)


def _plan(job: DescribedJob) -> tuple[float, Assignment] | None:
    """Return (seconds, placement) of the best plan that fits by the highs, or None."""
    from ..api import solver
    from ..models.dialects.load import read
    from ..models.text.source import Source
    from ..solver.session import Session

    reading = read(Source(NAME, job.text), dialect="native").to_solve
    if reading.problem is None:
        return None
    with Session() as session:
        answer = solver(_LIMIT, 1, reading=reading, session=session)(reading.problem)
    tight = any(finding.code == "PW805" and finding.severity is Severity.WARNING for finding in answer.findings)
    return None if tight or not (answer.planned and answer.plan) else (answer.planned.price[0] / SECOND, answer.plan.assignment)


def _idle_of(job: DescribedJob, seconds: float, assignment: Assignment) -> list[str]:
    """Return a line on idle accelerators, and on the prompts that fill all more quickly."""
    idle, prompts = job.idle_accelerators(assignment), job.sizes.even_prompts
    if not idle:
        return []
    filling = job.change(prompts=prompts)
    alternative = _plan(filling) if prompts != job.request.prompts else None
    if alternative and not filling.idle_accelerators(alternative[1]) and alternative[0] / prompts < seconds / job.request.prompts:
        idle += f"; with `--prompts {prompts}` none is: {alternative[0]:.4g} seconds an iteration"
    return [f"idle: {idle}"]


def _memory_of(bill: BlockBill) -> str:
    """Return the memory of each accelerator of a block: likely and at most, of its capacity."""
    most = max(moment.demanded for moment in bill.moments)
    capacity = write_memory(bill.capacity) if bill.capacity else "an unknown amount"
    names = escape(", ".join(bill.block.components))
    figures = f"{write_estimate(bill.peak.mebibytes)} likely, {write_estimate(most)} at most"
    return f"memory: {figures}, of {capacity} on each accelerator of {names}"


def _network_of(job: DescribedJob) -> list[str]:
    """Return the line on the network that is assumed."""
    from ..models.performance.component_times import assumed_network

    network = assumed_network(job.cluster)
    return [f"network: {escape(network)}, assumed (`speed: {{network: ...}}` in a cluster file says it)"] if network else []
