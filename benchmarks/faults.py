"""What becomes of a launch when something goes wrong, on a real Ray cluster of simulated nodes.

Rows: the number of workers, the fault, when it comes, what the user is told, the seconds from the fault until everything is undone and told
(that of a whole start, where the fault lies in what is started), and the leaks: named actors, placement groups and accelerators that are
still held two seconds later. `--full` plays every scene with 2 workers and with 64.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from faulting import workers
from faulting.scenes import FULL, QUICK, Scenes
from faulting.stage import NODES, Stage, machines, wait_for
from placewright.runtime.port.connection import Connection
from placewright.runtime.port.ray_compat import send_by_value
from placewright.runtime.simulated.simulate import SimulatedCluster
from study import Rows, Study, plotting

SIZES = (2, 64)


def measure(full: bool) -> Rows:
    """One row for each fault and number of workers."""
    return [row for workers in (SIZES if full else SIZES[:1]) for row in with_workers(workers, FULL if full else QUICK)]


def with_workers(number: int, scenes: Scenes) -> Rows:
    """One row for each fault, on a cluster of its own."""
    cluster = SimulatedCluster()
    try:
        address = cluster.start(machines(number).nodes, dict.fromkeys(range(NODES), number))
        connection = Connection(address)
        connection.open()
        send_by_value(workers)
        try:
            stage, rows = Stage(cluster, address, number), []
            for (fault, when), scene in scenes.items():
                told = scene(stage)
                seconds = round(time.monotonic() - stage.began, 2)
                row = {"workers": number, "fault": fault, "when": when, "told": told[:160], "seconds": seconds, "leaks": leaks(stage)}
                print(row, file=sys.stderr, flush=True)
                rows.append(row)
            return rows
        finally:
            connection.close()
    finally:
        cluster.stop()


def leaks(stage: Stage, patience: float = 2.0) -> int:
    """How much is still held, once it had time to be seen as free."""
    try:
        wait_for(lambda: stage.held() == 0, patience)
    except TimeoutError:
        return stage.held()
    return 0


def draw(rows: Rows, path: Path) -> None:
    """One bar for each fault and number of workers."""
    pyplot = plotting()
    names = list(dict.fromkeys(f"{row['fault']}, {row['when']}" for row in rows))
    figure, axes = pyplot.subplots(figsize=(8, 0.5 + 0.28 * len(names)), layout="constrained")
    for shift, number in enumerate(SIZES):
        seconds = [float(str(row["seconds"])) for row in rows if row["workers"] == number]
        axes.barh([place + 0.4 * shift for place in range(len(seconds))], seconds, 0.4, label=f"{number} workers")
    axes.set_yticks([place + 0.2 for place in range(len(names))], names)
    axes.invert_yaxis()
    axes.legend(fontsize="small")
    axes.set(xlabel="seconds until everything is undone and told")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("faults", measure, draw).main()
