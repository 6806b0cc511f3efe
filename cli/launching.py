"""Launches in this process or in a keeper, and how a terminal shows them."""

from __future__ import annotations

import json
import re
import secrets
import sys
from contextlib import ExitStack, suppress
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

import click

from ..models.findings.finding import UnusableInput
from ..models.findings.wording import with_noun
from ..report.terminal import escape, paint
from .exit_codes import OK
from .output.colour import wants_colour
from .output.findings import echo_findings
from .output.progress import StepOutput, shown_steps
from .output.text import echo
from .written import write_new

if TYPE_CHECKING:
    from ..models.findings.finding import Unchecked
    from ..models.placements.plan import Plan
    from ..models.reading import Reading
    from ..runtime.detached.messages import LaunchRequest
    from ..runtime.detached.record import Claim, Record, Worker
    from ..runtime.failure import LaunchFailed
    from ..runtime.recovery.lifetime import Launch

NOT_LAUNCHED, FAILED = "not launched: nothing is left running", "failed: nothing is left running"


def echo_workers(workers: Sequence[Worker], allocations: Iterable[object], unchecked_demands: Iterable[Unchecked]) -> None:
    """Print a row for each worker, replaced accelerators, and unchecked demands."""
    from ..report.table import table
    from ..report.text import render_unchecked

    rows = [["component", "rank", "node", "name", "Ray node", "pid", "local", "sees", "audit"]]
    for worker in workers:
        place = [str(worker.node_rank), worker.node, worker.ray_node[:8], str(worker.pid), f"{worker.local_rank}/{worker.local_world_size}"]
        rows.append([worker.component, f"{worker.rank}/{worker.world_size}", *place, ",".join(worker.sees) or "-", "as planned"])
    lines = "\n".join(escape(str(allocation)) for allocation in allocations)
    echo("\n\n".join(filter(None, [table(rows, right=(2, 5)), lines, render_unchecked(unchecked_demands)])))


def sizes(components: Iterable[str], nodes: Iterable[int], is_simulated: bool = False) -> tuple[str, str]:
    """Format the component and the node of each worker: ("14 workers of 4 components", "2 simulated nodes")."""
    names, ranks = list(components), set(nodes)
    workers = f"{with_noun(len(names), 'worker', ',')} of {with_noun(len(set(names)), 'component')}"
    return workers, with_noun(len(ranks), "simulated node" if is_simulated else "node", ",")


def sizes_of(workers: Sequence[Worker], is_simulated: bool) -> tuple[str, str]:
    """Format the numbers of started workers and of their nodes."""
    return sizes([worker.component for worker in workers], [worker.node_rank for worker in workers], is_simulated)


def sizes_of_plan(plan: Plan) -> tuple[str, str]:
    """Format the numbers of planned workers and of their nodes."""
    nodes = (run.node for runs in plan.assignment.runs.values() for run in runs)
    return sizes([name for name in plan.components for _ in range(plan.assignment.world_size(name))], nodes)


def runs(record: Record, until: str) -> str:
    """Format the verdict of a running launch, and how to reach the workers."""
    who, where = sizes_of(record.workers, record.simulated)
    first = record.workers[0].component
    return (
        f"{paint('running', 'green', wants_colour(sys.stdout))}: `{record.name}`, {who} on {where}, each as planned, "
        f"Ray at {record.address}\n"
        f"  call them: with placewright.attach({record.name!r}) as groups: groups[{first!r}].call('METHOD')\n"
        f"  until:     {until}"
    )


LAST_LINES = 8
"""Lines of a traceback on a terminal."""


def print_failure(problem: LaunchFailed, verdict: str = NOT_LAUNCHED, log_dir: str = "") -> int:
    """Print a failure with the end of the worker's traceback; return the exit code.

    `log_dir`: folder for the whole traceback.
    """
    echo_findings(problem.findings, err=True)
    lines = problem.traceback.splitlines()
    for line in lines[-LAST_LINES:]:
        click.echo(f"   | {escape(line)}", err=True)
    if log_dir and lines:
        path = Path(log_dir, "failure.log")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(problem.traceback + "\n", "utf-8")
            echo(f"whole traceback: {escape(str(path))}", err=True)
        except OSError as refusal:
            echo(f"the whole traceback is not kept, as {escape(str(path))} cannot be written: {refusal.strerror}", err=True)
    echo(verdict, err=True)
    return problem.exit_code


def intent(request: LaunchRequest, reading: Reading | None = None) -> str:
    """Return sentences on what is started where, and what restarts do not cover."""
    from ..models.dialect_names import FRAMEWORKS
    from ..runtime.recovery.replanner import immovable

    workers, _ = sizes_of_plan(request.plan)
    cls = f"class `{request.worker}`" if request.worker else "each only reports its environment, as there is no `--worker`"
    machines = f"Ray at {request.address}" if request.address else "a simulated cluster on this machine"
    lines = [escape(f"launching {workers} on {machines}: {cls}")]
    if request.restarts and (names := immovable(request.plan, request.problem)):
        name_list = ", ".join(f"`{name}`" for name in names)
        is_reread = reading is not None and reading.dialect in FRAMEWORKS
        covers, condition = ("covers", ", if the file fits the other nodes") if is_reread else ("does not cover", "")
        lines.append(escape(f"note: `--restarts` {covers} the loss of a node under the given ranks of {name_list}{condition}"))
    return "\n".join(lines)


def name_of(file: str, is_fresh: bool) -> str:
    """Return the name of a launch by its file, with random digits if `is_fresh`."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(file).stem)[:32].strip(".-") or "launch"
    return f"{stem}-{secrets.token_hex(2)}" if is_fresh else stem


def launch_here(request: LaunchRequest, reading: Reading | None, keep: bool, progress: str, output: str) -> int:
    """Launch in this process until the end of the launch; return the exit code."""
    from ..runtime.detached.keeper import run_kept, stopping_on_request
    from ..runtime.detached.record import Claim, workers_of
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import launch
    from ..runtime.progress import Step

    verdict = NOT_LAUNCHED
    try:
        with ExitStack() as stack:
            claim = Claim(request.name) if keep else None
            if claim is not None:
                stack.callback(claim.give_up)
                claim.take()
            steps = stack.enter_context(shown_steps(progress))
            running = stack.enter_context(launch(request.plan, progress=steps, reading=reading, **request.options))
            steps.clear()
            verdict, workers = FAILED, workers_of(running)
            echo_workers(workers, running.given, running.unchecked)
            if claim is not None:
                with suppress(KeyboardInterrupt), stopping_on_request(claim):
                    record_and_print = partial(_note, claim, request, steps)
                    run_kept(running, request.method, record_and_print, claim.record_loss, keeps_watching=True, limit=request.call_timeout)
                workers = claim.record.workers if claim.record is not None else workers
            elif request.method:
                steps(Step(f"calling `{request.method}`"))
                write = methodcaller("write_all", request.method, bool(output), request.call_timeout)
                results = running.run(write)
                workers = workers_of(running)
                if output:
                    save_results(output, results)
    except LaunchFailed as problem:
        return print_failure(problem, verdict, request.log_dir)
    sizes_text, nodes = sizes_of(workers, request.simulated)
    echo(f"\n{paint('ok', 'green', wants_colour(sys.stdout))}: {sizes_text} ran on {nodes}, each as planned; all ended")
    return OK


def _note(claim: Claim, request: LaunchRequest, steps: StepOutput, running: Launch) -> None:
    """Record and print a running launch, the first time and after restarts."""
    is_restart, record = claim.record is not None, claim.keep(running, request.file, request.simulated, request.log_dir)
    steps.clear()
    if is_restart:
        echo(f"\n{running.recoveries[-1]}")
        echo_workers(record.workers, running.given, running.unchecked)
    echo("\n" + runs(record, f"Ctrl-C, or `placewright stop {record.name}`"))
    sys.stdout.flush()


def try_launch(request: LaunchRequest) -> int:
    """Print what a launch would reserve; return the exit code, that of a launch."""
    from ..report.table import table
    from ..runtime.failure import LaunchFailed
    from ..runtime.metrics import parse_address
    from ..runtime.reserving.reservation import amount_of
    from ..runtime.running.dry_run import dry_run

    try:
        if request.metrics:
            parse_address(request.metrics)
        nodes = dry_run(
            request.plan, request.address or "", request.worker, request.methods, request.trusted_env, request.wait, request.share_nodes
        )
    except LaunchFailed as problem:
        return print_failure(problem, "dry run: it would not be launched")
    rows = [["node", "name", "Ray node", "would reserve", "free"]]
    for want, free in nodes:
        amounts = ", ".join(amount_of(name, amount) for name, amount in want.bundle.resources.items())
        rows.append([str(want.rank), want.subject, want.bundle.node_id[:8], amounts, ", ".join(f"{amount:g}" for amount in free)])
    who, where = sizes_of_plan(request.plan)
    echo(f"{table(rows)}\n\ndry run: {who} would start on {where}; nothing was reserved")
    return OK


def save_results(output: str, results: Mapping[str, Sequence[str]]) -> None:
    """Write results, which are JSON texts, as JSON lines; print them if that fails.

    Raises UnusableInput then.
    """
    lines = ((json.dumps(name), rank, result) for name, by_rank in results.items() for rank, result in enumerate(by_rank))
    text = "".join(f'{{"component": {name}, "rank": {rank}, "result": {result}}}\n' for name, rank, result in lines)
    try:
        write_new(output, text, force=True)
    except UnusableInput:
        click.echo(text, nl=False)
        raise


def name_refused(name: str) -> int:
    """Check that a launch can take this name; return the exit code.

    Called before a long search. Prints the reason of a refusal.
    """
    from ..runtime.detached.record import check_free
    from ..runtime.failure import LaunchFailed

    try:
        check_free(name)
    except LaunchFailed as problem:
        return print_failure(problem)
    return OK


def launch_detached(request: LaunchRequest, progress: str) -> int:
    """Launch in a keeper; return the exit code."""
    from ..runtime.detached.launches import detach
    from ..runtime.failure import LaunchFailed
    from ..runtime.world.matching import used_nodes

    try:
        with shown_steps(progress) as steps:
            record = detach(request, len(used_nodes(request.plan)), steps)
    except LaunchFailed as problem:
        return print_failure(problem, log_dir=request.log_dir)
    echo_workers(record.workers, record.given, record.unchecked)
    until = f"`{request.method}` has returned on every worker, or " if request.method else ""
    echo("\n" + runs(record, f"{until}`placewright stop {record.name}`"))
    return OK
