"""Launches in this process or in a keeper, and how a terminal shows them."""

from __future__ import annotations

import json
import re
import secrets
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

import click

from ..models.record import dataclass
from ..report.terminal import escape, paint
from .exit_codes import OK
from .output.colour import wants_colour
from .output.findings import echo_findings
from .output.progress import StepOutput, shown_steps
from .output.text import echo
from .written import write_new

if TYPE_CHECKING:
    from ..models.placements.plan import Plan
    from ..models.problem import Problem
    from ..models.reading import Reading
    from ..runtime.detached.record import Claim, Record, Worker
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import Launch


NOT_LAUNCHED, FAILED = "not launched: nothing is left running", "failed: nothing is left running"


def workers_table(workers: Sequence[Worker]) -> str:
    """One row a worker: where it is and what it sees, as it said itself."""
    from ..report.table import table

    rows = [["component", "rank", "node", "name", "Ray node", "pid", "local", "sees", "audit"]]
    for worker in workers:
        place = [str(worker.node_rank), worker.node, worker.ray_node[:8], str(worker.pid), f"{worker.local_rank}/{worker.local_world_size}"]
        rows.append([worker.component, f"{worker.rank}/{worker.world_size}", *place, ",".join(worker.sees) or "-", "as planned"])
    return table(rows, right=(2, 5))


def workers_and_given(workers: Sequence[Worker], given: Iterable[object]) -> str:
    """Format the workers, with accelerators on shared nodes that differ from the plan."""
    lines = "\n".join(escape(str(shared)) for shared in given)
    return workers_table(workers) + (f"\n\n{lines}" if lines else "")


def not_checked(record: Record) -> str:
    """Format unchecked demands after an empty line; "" without any."""
    from ..report.text import render_unchecked

    return f"\n{render_unchecked(record.unchecked)}" if record.unchecked else ""


def sizes(workers: Sequence[Worker], simulated: bool) -> tuple[str, str]:
    """("14 workers of 4 components", "2 simulated nodes")."""
    from ..models.findings.wording import with_noun

    components = len({worker.component for worker in workers})
    nodes = len({worker.node_rank for worker in workers})
    return f"{with_noun(len(workers), 'worker', ',')} of {with_noun(components, 'component')}", with_noun(
        nodes, "simulated node" if simulated else "node", ","
    )


def ran(workers: Sequence[Worker], simulated: bool) -> str:
    """Format the verdict of an ended launch."""
    who, where = sizes(workers, simulated)
    return f"{paint('ok', 'green', wants_colour(sys.stdout))}: {who} ran on {where}, each as planned; all ended"


def runs(record: Record, until: str) -> str:
    """Format the verdict of a running launch, and how to reach the workers."""
    who, where = sizes(record.workers, record.simulated)
    first = record.workers[0].component
    return (
        f"{paint('running', 'green', wants_colour(sys.stdout))}: `{record.name}`, {who} on {where}, each as planned, "
        f"Ray at {record.address}\n"
        f"  call them: with placewright.attach({record.name!r}) as groups: groups[{first!r}].call('METHOD')\n"
        f"  until:     {until}"
    )


LAST_LINES = 8
"""Lines of a traceback on a terminal."""


def failed(problem: LaunchFailed, verdict: str = NOT_LAUNCHED, log_dir: str = "") -> int:
    """Print a failure with the end of the worker's traceback; return the exit code.

    `log_dir`: folder for the whole traceback.
    """
    echo_findings(problem.findings, err=True)
    lines = problem.traceback.splitlines()
    for line in lines[-LAST_LINES:]:
        click.echo(f"   | {escape(line)}", err=True)
    if log_dir and lines:
        path = Path(log_dir, "failure.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(problem.traceback + "\n", "utf-8")
        echo(f"whole traceback: {escape(str(path))}", err=True)
    echo(verdict, err=True)
    return problem.exit_code


@dataclass(frozen=True)
class LaunchOptions:
    """Plan from `file`, and the options of its launch.

    `reading` : the Reading of `file`; None if `file` is a plan.
    """

    plan: Plan
    file: str
    address: str | None
    worker: str | None
    method: str | None
    timeout: float
    wait: float
    restarts: int
    share_nodes: bool
    elastic: bool
    trusted_env: tuple[str, ...]
    progress: str
    reading: Reading | None = None
    call_timeout: float | None = None
    heartbeat: float = 30.0
    log_dir: str = ""
    output: str = ""
    metrics: str = ""

    @property
    def sizes(self) -> tuple[str, str]:
        """("14 workers of 4 components", "2 nodes")."""
        from ..models.findings.wording import with_noun
        from ..runtime.world.matching import used_nodes

        counts = [self.plan.assignment.world_size(component) for component in self.plan.components]
        who = f"{with_noun(sum(counts), 'worker', ',')} of {with_noun(len(counts), 'component')}"
        return who, with_noun(len(used_nodes(self.plan)), "node", ",")

    @property
    def intent(self) -> str:
        """Sentences on what is started where, and what restarts do not cover."""
        from ..runtime.recovery.replanner import immovable

        who, _ = self.sizes
        cls = f"class `{self.worker}`" if self.worker else "each only reports its environment, as there is no `--worker`"
        where = f"Ray at {self.address}" if self.address else "a simulated cluster on this machine"
        lines = [escape(f"launching {who} on {where}: {cls}")]
        if self.restarts and (names := immovable(self.plan, self.problem)):
            given = ", ".join(f"`{name}`" for name in names)
            lines.append(escape(f"note: `--restarts` does not cover the loss of a node under the given ranks of {given}"))
        return "\n".join(lines)

    @property
    def problem(self) -> Problem | None:
        """Problem of the file; None for a plan file."""
        return self.reading.problem if self.reading is not None else None

    @property
    def simulated(self) -> bool:
        """True for a simulated cluster."""
        return self.address is None

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of called methods."""
        return (self.method,) if self.method else ()

    @property
    def stem(self) -> str:
        """Name of the launch by its file."""
        return re.sub(r"[^A-Za-z0-9_.-]", "-", Path(self.file).stem)[:32].strip(".-") or "launch"

    def fresh_name(self) -> str:
        """Return an unused name for this launch."""
        return f"{self.stem}-{secrets.token_hex(2)}"


def launch_here(wanted: LaunchOptions, kept: bool) -> int:
    """Launch in this process until the end of the launch; return the exit code."""
    from ..report.text import render_unchecked
    from ..runtime.detached.keeper import run_kept, stopping_on_request
    from ..runtime.detached.record import Claim, workers_of
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import launch
    from ..runtime.progress import Step

    verdict = NOT_LAUNCHED
    try:
        with ExitStack() as stack:
            claim = Claim(wanted.fresh_name()) if kept else None
            if claim is not None:
                stack.callback(claim.give_up)
                claim.take()
            steps = stack.enter_context(shown_steps(wanted.progress))
            running = stack.enter_context(
                launch(
                    wanted.plan, address=wanted.address, worker=wanted.worker, timeout=wanted.timeout, trusted_env=wanted.trusted_env,
                    progress=steps, wait=wanted.wait, restarts=wanted.restarts, problem=wanted.problem, reading=wanted.reading, methods=wanted.methods,
                    share_nodes=wanted.share_nodes, elastic=wanted.elastic, name=claim.name if claim is not None else wanted.stem,
                    log_dir=wanted.log_dir, heartbeat=wanted.heartbeat, metrics=wanted.metrics,
                )
            )  # fmt: skip
            steps.clear()
            verdict, workers = FAILED, workers_of(running)
            echo(workers_and_given(workers, running.given))
            if running.unchecked:
                echo("\n" + render_unchecked(running.unchecked))
            if claim is not None:
                notes = _Notes(wanted, claim, steps)
                with suppress(KeyboardInterrupt), stopping_on_request(claim):
                    run_kept(running, wanted.method, notes.runs, notes.lost, stay=True, limit=wanted.call_timeout)
                workers = notes.workers or workers
            elif wanted.method:
                steps(Step(f"calling `{wanted.method}`"))
                results = running.run(wanted.method, wanted.call_timeout)
                workers = workers_of(running)
                if wanted.output:
                    write_new(wanted.output, results_text(results), force=True)
    except LaunchFailed as problem:
        return failed(problem, verdict, wanted.log_dir)
    echo("\n" + ran(workers, wanted.simulated))
    return OK


def try_launch(wanted: LaunchOptions) -> int:
    """Print what a launch would reserve; return the exit code, that of a launch."""
    from ..report.table import table
    from ..runtime.failure import LaunchFailed
    from ..runtime.metrics import parse_address
    from ..runtime.reserving.reservation import amount_of
    from ..runtime.running.dry_run import dry_run

    try:
        if wanted.metrics:
            parse_address(wanted.metrics)
        nodes = dry_run(
            wanted.plan, wanted.address or "", wanted.worker, wanted.methods, wanted.trusted_env, wanted.wait, wanted.share_nodes
        )
    except LaunchFailed as problem:
        return failed(problem, "dry run: it would not be launched")
    rows = [["node", "name", "Ray node", "would reserve", "free"]]
    for node in nodes:
        amounts = ", ".join(amount_of(name, amount) for name, amount in node.resources.items())
        free = ", ".join(f"{amount:g}" for amount in node.free.values())
        rows.append([str(node.node_rank), node.node, node.ray_node[:8], amounts, free])
    who, where = wanted.sizes
    echo(f"{table(rows)}\n\ndry run: {who} would start on {where}; nothing was reserved")
    return OK


def results_text(results: Mapping[str, Sequence[object]]) -> str:
    """Format results as JSON lines; what JSON cannot say as Python's text of it."""
    lines = (
        {"component": name, "rank": rank, "result": result} for name, by_rank in results.items() for rank, result in enumerate(by_rank)
    )
    return "".join(_json_line(line) + "\n" for line in lines)


def _json_line(line: Mapping[str, object]) -> str:
    try:
        return json.dumps(line, default=repr, allow_nan=False)
    except (TypeError, ValueError):  # a key that is no text, infinity, not a number, or a value within itself
        return json.dumps({**line, "result": repr(line["result"])})


class _Notes:
    """Writes down, and says, how a launch is that is kept."""

    def __init__(self, wanted: LaunchOptions, claim: Claim, steps: StepOutput) -> None:
        self._wanted = wanted
        self._claim = claim
        self._steps = steps
        self._record: Record | None = None

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Workers of the last run; empty before the first."""
        return self._record.workers if self._record is not None else ()

    def runs(self, running: Launch) -> None:
        """Record and print a running launch, the first time and after restarts."""
        from ..models.placements.plan_file import plan_to_json
        from ..report.text import render_unchecked
        from ..runtime.detached.record import record_of

        again, record = (
            self._record is not None,
            record_of(self._claim.name, self._wanted.file, running, self._wanted.simulated, self._wanted.log_dir),
        )
        self._record = record
        self._claim.keep(record, plan_to_json(running.plan))
        self._steps.clear()
        if again:
            echo(f"\n{running.recoveries[-1]}\n" + workers_and_given(record.workers, running.given))
            if running.unchecked:
                echo("\n" + render_unchecked(running.unchecked))
        echo("\n" + runs(record, f"Ctrl-C, or `placewright stop {record.name}`"))
        sys.stdout.flush()

    def lost(self, failure: LaunchFailed) -> None:
        """Record a loss before its replacement; the next steps print it."""
        if self._record is not None:
            self._record = self._record.recovering(failure)
            self._claim.write(self._record)


def name_refused(name: str) -> int:
    """Check that a launch can take this name; return the exit code.

    Called before a long search. Prints the reason of a refusal.
    """
    from ..runtime.detached.record import check_free
    from ..runtime.failure import LaunchFailed

    try:
        check_free(name)
    except LaunchFailed as problem:
        return failed(problem)
    return OK


def launch_detached(wanted: LaunchOptions, name: str) -> int:
    """Launch in a keeper, under this name or a fresh name; return the exit code."""
    from ..runtime.detached.launches import detach
    from ..runtime.detached.messages import LaunchRequest, StoredReading
    from ..runtime.failure import LaunchFailed
    from ..runtime.world.matching import used_nodes

    request = LaunchRequest(
        name=name or wanted.fresh_name(), file=wanted.file, plan=wanted.plan, address=wanted.address, worker=wanted.worker,
        method=wanted.method, timeout=wanted.timeout, wait=wanted.wait, restarts=wanted.restarts, trusted_env=wanted.trusted_env, problem=wanted.problem,
        reading=StoredReading.of(wanted.reading), share_nodes=wanted.share_nodes, elastic=wanted.elastic, call_timeout=wanted.call_timeout, heartbeat=wanted.heartbeat, log_dir=wanted.log_dir,
        metrics=wanted.metrics,
    )  # fmt: skip
    try:
        with shown_steps(wanted.progress) as steps:
            record = detach(request, len(used_nodes(wanted.plan)), steps)
    except LaunchFailed as problem:
        return failed(problem, log_dir=wanted.log_dir)
    echo(workers_and_given(record.workers, record.given))
    if unseen := not_checked(record):
        echo(unseen)
    until = f"`{wanted.method}` has returned on every worker, or " if wanted.method else ""
    echo("\n" + runs(record, f"{until}`placewright stop {record.name}`"))
    return OK
