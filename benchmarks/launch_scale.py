"""Cost of launches of many workers: up to 5,000 on a port without a cluster, and 32 beside 300 on a real Ray of four simulated nodes.

Without a cluster (the port of the tests, which answers at once) the CPU seconds are those of the layer itself: matching, reserving,
starting and auditing all workers, four on a node; a call of all; a check for losses with its heartbeat; and the end. With Ray, `start`
is the time until every worker has answered, `cpu_each` the CPU seconds of the cluster and the driver for each worker, `driver_cpu_each`
those of the driver, `calls` how many times a second all workers are called, `check` with its heartbeat, and `driver_mib` the driver's memory.

Plain Ray actors of an empty class, in one placement group, stand beside ours: only the same numbers of both compare like with like. 300
of either cost more for each than 32, because those that are up wait for the rest, and Ray wakes an idle process 100 times a second (a
timer of CoreWorker::RunTaskExecutionLoop that no setting changes), for .4 to .7 % of a core (`idle`): 300 take one and a half of two
cores, and 266 s of start give each .7 CPU seconds of waiting. `own_cpu_each` is without it, and does not grow: n workers of c CPU seconds
each, that take a share i of a core while they wait, start on k cores within c / i * ln(k / (k - i * n)) seconds, and never from k / i on.
With c = .9, i = .0055 and k = 2 these are 15 s for 32 and 285 s for 300; 15 and 266 were measured. Ready processes change little: Ray
keeps as many of them on a node as the machine has cores, 8 of the 32 or 300.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.running.monitor import BEAT
from placewright.runtime.simulated.simulate import SimulatedCluster
from study import Rows, Study, each_alone, plotting

MANY_WORKERS = Path(__file__).parent / "running" / "many_workers.py"
NODES, EACH = 4, 4
"""Simulated nodes, and workers on each node without a cluster."""
QUICK, FULL = ((500, 1000), (8,)), ((500, 1000, 2500, 5000), (32, 300))
"""(workers without a cluster, workers with Ray)."""


@dataclass(frozen=True)
class Case:
    """So many workers on the cluster at this address."""

    workers: int
    nodes: int
    address: str
    plain: bool = False
    """True: plain Ray actors of an empty class."""


class Noop:
    """Worker that does nothing."""

    def noop(self) -> None:
        """Nothing."""


def measure(full: bool) -> Rows:
    """One row for each number of workers."""
    without, with_ray = FULL if full else QUICK
    rows = [alone(workers) for workers in without]
    cluster, most = SimulatedCluster(), max(with_ray) // NODES
    try:
        address = cluster.start(read_shorthand(f"{NODES}x{most}").nodes, dict.fromkeys(range(NODES), most))
        return rows + each_alone(MANY_WORKERS, [Case(workers, NODES, address, plain) for workers in with_ray for plain in (True, False)])
    finally:
        cluster.stop()


def alone(workers: int) -> dict[str, object]:
    """CPU seconds of the layer itself."""
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.runtime.fake import FakePort

    nodes = workers // EACH
    runs = tuple(Run(range(EACH * node, EACH * node + EACH), node) for node in range(nodes))
    plan, port = Plan(read_shorthand(f"{nodes}x{EACH}"), Assignment({"noop": runs}), VERIFIED), FakePort(*[EACH] * nodes)
    marks = [time.process_time()]
    with ExitStack() as stack:
        running = bring_up(stack, plan, port, Noop, 600, silent)
        marks.append(time.process_time())
        running.call_all("noop")
        marks.append(time.process_time())
        port.time += BEAT
        running.watch(0.1)
        marks.append(time.process_time())
    marks.append(time.process_time())
    start, call, check, stop = (round(after - before, 3) for before, after in zip(marks, marks[1:]))
    each = round(1000 * (marks[-1] - marks[0]) / workers, 3)
    return {"cluster": "none", "workers": workers, "start": start, "call": call, "check": check, "stop": stop, "ms_each": each}


def draw(rows: Rows, path: Path) -> None:
    """Left the layer itself, right the CPU seconds of a worker with Ray."""
    pyplot = plotting()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    without = [row for row in rows if row["cluster"] == "none"]
    for what in ("start", "call", "check", "stop"):
        left.plot([int(str(row["workers"])) for row in without], [float(str(row[what])) for row in without], marker="o", label=what)
    left.set(xlabel="workers, no cluster", ylabel="CPU seconds of the layer", xlim=(0, None), ylim=(0, None))
    left.legend(fontsize="small")
    real = [row for row in rows if row["cluster"] != "none"]
    names = [f"{row['workers']} {'actors' if 'actors' in str(row['cluster']) else 'workers'}" for row in real]
    right.bar(names, [float(str(row["cpu_each"])) for row in real], color="#c8d4e8", label="Ray and the workers")
    right.bar(names, [float(str(row["driver_cpu_each"])) for row in real], color="#3b6fb6", label="driver")
    right.set(ylabel="CPU seconds for each worker to start")
    right.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("launch_scale", measure, draw).main()
