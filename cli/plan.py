"""Verb `placewright plan`: from a model and a cluster to a plan, without a file."""

from __future__ import annotations

import sys
from typing import Any, Mapping

import click

from ..models.dialect_names import FRAMEWORKS
from ..models.findings.finding import Severity
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

NAME = "plan.yaml"
_LIMIT = 10.0


@click.command()
@job_options
@click.option("-o", "--output", "output", metavar="FILE", help="Write the file with the plan in it.")
@click.option(
    "--framework",
    type=click.Choice(FRAMEWORKS),
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
    drafted = read(Source(NAME, job.text), dialect="native").to_solve
    reading, code, before = solvable(drafted, form)
    if reading is None or reading.problem is None:
        if any(finding.code == "PW805" for finding in verify(drafted).errors):
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
        planned = account_of(reading.problem, answer, _LIMIT, solves, verbose)
    if any(bill["capacity"] and bill["peak"] > bill["capacity"] for bill in _bills(planned.data)):
        code = FINDINGS
    edits, of_file = edits_of(reading, answer)
    text = job.file_of(apply_edits(job.text, edits))
    if output:
        write_new(output, text, force)
    if form == "json":
        click.echo(to_json(answer.plan, None, planned.data, (*before, *answer.findings, *of_file), answer.unchecked, NAME), nl=False)
        return code
    blocks = [
        *planned.blocks,
        "\n".join([*_memory_of(planned.data), *_network_of(job)]),
        f"written: {escape(output)}\nrun it: `{escape(job.command_of(output))}`"
        if output and output != DASH
        else f"the file of {job.framework}:"
        if job.framework
        else "next: `init` with the same options and `-o job.yaml`, then write there what you measured, and `placewright solve job.yaml --write`",
    ]
    echo(
        render(reading, answer, [], of_file, False, False, "", wants_colour(sys.stdout), None, (), blocks, brief=planned.brief),
        output == DASH,
    )
    if job.framework and not output:
        click.echo(f"\n{text}", nl=False)
    return code


def _echo_least(job: DescribedJob) -> None:
    """Print the fewest nodes that have a plan that fits, with its seconds."""
    from ..models.dialects.native.from_model import add_nodes, enough_nodes

    def seconds_on(count: int) -> float | None:
        return _planned_seconds(job.place_on(add_nodes(job.cluster, count)))

    nodes = enough_nodes(job.request, job.cluster, job.limits)
    if nodes is None:
        echo("by the estimates it fits on no number of these nodes: use accelerators with more memory, or a shorter --response", err=True)
    elif nodes > len(job.cluster.nodes):
        seconds, too_few = seconds_on(nodes), len(job.cluster.nodes)
        while seconds and nodes - too_few > 1:
            middle = (too_few + nodes) // 2
            planned = seconds_on(middle)
            nodes, seconds, too_few = (middle, planned, too_few) if planned else (nodes, seconds, middle)
        plan = f": {seconds:.4g} seconds an iteration" if seconds else ""
        echo(f"by the estimates it fits on {nodes} nodes like these{plan}", err=True)


def _planned_seconds(job: DescribedJob) -> float | None:
    """Return the seconds of the best plan that fits by the highs; None without one."""
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
    return None if tight or answer.planned is None else answer.planned.price[0] / SECOND


def _memory_of(data: Mapping[str, object]) -> list[str]:
    """Return the memory of each accelerator: likely and at most, of its capacity."""
    lines = []
    for bill in _bills(data):
        most = max(sum(entry.get("high", entry["mebibytes"]) for entry in part["components"]) for part in bill["parts"])
        capacity = write_memory(bill["capacity"]) if bill["capacity"] else "an unknown amount"
        names = escape(", ".join(bill["components"]))
        lines.append(
            f"memory: {write_estimate(bill['peak'])} likely, {write_estimate(most)} at most, of {capacity} on each accelerator of {names}"
        )
    return lines


def _network_of(job: DescribedJob) -> list[str]:
    """Return the line on the network that is assumed."""
    from ..models.performance.component_times import assumed_network

    assumed = assumed_network(job.cluster)
    return [f"network: {escape(assumed)}, assumed (`speed: {{network: ...}}` in a cluster file says it)"] if assumed else []


def _bills(data: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the memory of each set of accelerators."""
    planned: Any = data.get("planned", {})
    return list(planned.get("memory", ()))
