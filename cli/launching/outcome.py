"""What a launch comes to on a terminal: its workers, how to reach them, the verdict, and why it failed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Iterable, Sequence

import click

from ...report.terminal import escape, paint, wants_colour
from ..showing.findings import echo_findings

if TYPE_CHECKING:
    from ...runtime.detached.record import Record, Worker
    from ...runtime.failure import LaunchFailed

NOT_LAUNCHED, FAILED = "not launched: nothing is left running", "failed: nothing is left running"


def workers_table(workers: Sequence[Worker]) -> str:
    """One row a worker: where it is and what it sees, as it said itself."""
    from ...report.table import table

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
    from ...report.text import render_unchecked

    return f"\n{render_unchecked(demand.unchecked() for demand in record.unchecked)}" if record.unchecked else ""


def sizes(workers: Sequence[Worker], simulated: bool) -> tuple[str, str]:
    """("14 workers of 4 components", "2 simulated nodes")."""
    from ...models.findings.wording import with_noun

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


def failed(problem: LaunchFailed, verdict: str = NOT_LAUNCHED) -> int:
    """Print a failure with the end of the worker's traceback; return the exit code."""
    echo_findings(problem.findings, err=True)
    for line in problem.traceback.splitlines():
        click.echo(f"   | {escape(line)}", err=True)
    click.echo(verdict, err=True)
    return problem.exit_code
