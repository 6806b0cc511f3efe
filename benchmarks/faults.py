"""What becomes of a launch when something goes wrong, on a real Ray cluster of simulated nodes.

Rows: the fault, when it comes, what the user is told, the seconds from the fault until everything is undone and told (that of a whole
start, where the fault lies in what is started), and the leaks: named actors, placement groups and accelerators that are still held
two seconds later.
"""

from __future__ import annotations

import time
from pathlib import Path

from faulting import workers
from faulting.scenes import FULL, QUICK
from faulting.stage import ACCELERATORS, NODES, Stage, held, plan_on, wait_for
from placewright.runtime.port.connection import Connection
from placewright.runtime.port.ray_compat import send_by_value
from placewright.runtime.simulated.simulate import SimulatedCluster
from study import Rows, Study, plotting


def measure(full: bool) -> Rows:
    """One row for each fault."""
    cluster = SimulatedCluster()
    try:
        address = cluster.start(plan_on().cluster.nodes, dict.fromkeys(range(NODES), ACCELERATORS))
        connection = Connection(address)
        connection.open()
        send_by_value(workers)
        try:
            stage, rows = Stage(cluster, address), []
            for (fault, when), scene in (FULL if full else QUICK).items():
                told = scene(stage)
                seconds = time.monotonic() - stage.began
                rows.append({"fault": fault, "when": when, "told": told[:160], "seconds": round(seconds, 2), "leaks": leaks()})
            return rows
        finally:
            connection.close()
    finally:
        cluster.stop()


def leaks(patience: float = 2.0) -> int:
    """How much is still held, once it had time to be seen as free."""
    try:
        wait_for(lambda: held() == 0, patience)
    except TimeoutError:
        return held()
    return 0


def draw(rows: Rows, path: Path) -> None:
    """One bar for each fault."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(8, 0.5 + 0.28 * len(rows)), layout="constrained")
    axes.barh([f"{row['fault']}, {row['when']}" for row in rows], [float(str(row["seconds"])) for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="seconds until everything is undone and told")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("faults", measure, draw).main()
