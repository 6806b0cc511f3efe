"""What it costs to start workers and to call them, beside plain Ray actors and verl's RayWorkerGroup on the same simulated cluster.

Rows: `start` is the time from asking until every worker has answered, reservation and audit included, and `cpu_seconds` what it takes
of all processes of the cluster and of the layer's own: unlike the time, it hardly depends on what else the machine does; `broadcast`
is a call of a method that does nothing on every worker, median and 95th percentile; `stop` the time until the end is on its way.

Each layer runs in a process of its own, all on one cluster, in another order each round; of several rounds the median counts. Layers
that are called stand side by side, each on a node of its own, and take turns by a few calls, so that what disturbs one disturbs all.

verl takes part where PLACEWRIGHT_VERL names a checkout: its worker groups as they are, with stand-ins for torch and other libraries
that they import and do not use (running/made_up).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.simulated.simulate import SimulatedCluster
from study import Rows, Study, plotting

HERE = Path(__file__).parent
ONE_LAYER = HERE / "running" / "one_layer.py"
CHECKOUT = os.environ.get("PLACEWRIGHT_VERL", "")
LAYERS = (
    "placewright launch",
    "Ray actors, same variables",
    "placewright, verl's words",
    "Ray actors, no variables",
    *(("verl RayWorkerGroup",) if CHECKOUT else ()),
)
LEFT_OUT = "Ray actors, no variables"
"""Only in the full run: what no layer that sets variables can be asked to beat."""
QUICK, FULL = ((8, 1),), ((8, 5), (16, 3), (32, 3))
"""(workers, rounds)."""
CALLED, CALLS, TURN, WARM_UP = 8, 200, 20, 20
EACH, REST, LIMIT = 8, 1.0, 300.0
Figures = dict[str, list[float]]


class Layer:
    """One layer in a process of its own."""

    def __init__(self, name: str, address: str, workers: int, figures: Figures) -> None:
        command = [sys.executable, str(ONE_LAYER), name, address, str(workers)]
        self.name, self.figures = name, figures
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.note(self.told())

    def told(self) -> Any:
        """What it says next."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit(f"{self.name} ended:\n{self.process.communicate()[1]}")
        return json.loads(line)

    def note(self, figures: dict[str, float]) -> None:
        """Keeps figures of this round."""
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(value)

    def call(self, times: int) -> list[float]:
        """Calls the workers so many times; ms of each."""
        if self.process.stdin:
            self.process.stdin.write(f"{times}\n")
            self.process.stdin.flush()
        found: list[float] = self.told()
        return found

    def end(self) -> None:
        """Ends the workers, then the process."""
        if self.process.stdin:
            self.process.stdin.close()
        self.note(self.told())
        self.process.wait(LIMIT)


def measure(full: bool) -> Rows:
    """Rows for each number of workers and each layer."""
    sizes = FULL if full else QUICK
    layers = tuple(layer for layer in LAYERS if full or layer != LEFT_OUT)
    if CHECKOUT:
        os.environ["PYTHONPATH"] = os.pathsep.join((str(HERE / "running" / "made_up"), CHECKOUT))
    cluster = SimulatedCluster()
    try:
        nodes = read_shorthand(f"{max(len(layers), *(workers // EACH for workers, _ in sizes))}x{EACH}").nodes
        address = cluster.start(nodes, {node.rank: EACH for node in nodes})
        return [row for workers, rounds in sizes for row in _rows(layers, address, workers, rounds)]
    finally:
        cluster.stop()


def _rows(layers: tuple[str, ...], address: str, workers: int, rounds: int) -> Rows:
    found: dict[str, Figures] = {layer: {} for layer in layers}
    for number in range(rounds):
        turn = number % len(layers)
        order = (*layers[turn:], *layers[:turn])
        if workers == CALLED:
            _called(order, address, workers, found)
        else:
            for name in order:
                Layer(name, address, workers, found[name]).end()
                time.sleep(REST)
    rows: Rows = []
    for layer, figures in found.items():
        middle = {name: median(values) for name, values in figures.items()}
        common: dict[str, object] = {"layer": layer, "workers": workers, "rounds": rounds}
        rows.append({"what": "start", **common, "seconds": round(middle["start"], 3), "cpu_seconds": round(middle["cpu"], 2)})
        rows.append({"what": "stop", **common, "seconds": round(middle["stop"], 3)})
        if "median" in middle:
            rows.append({"what": "broadcast", **common, "ms": round(middle["median"], 3), "p95_ms": round(middle["p95"], 3)})
    return rows


def _called(order: tuple[str, ...], address: str, workers: int, found: dict[str, Figures]) -> None:
    """Layers that stand side by side and are called in turn."""
    standing: list[Layer] = []
    for name in order:
        standing.append(Layer(name, address, workers, found[name]))
        time.sleep(REST)
    for layer in standing:
        layer.call(WARM_UP)
    times: dict[str, list[float]] = {layer.name: [] for layer in standing}
    for number in range(CALLS // TURN):
        turn = number % len(standing)
        for layer in (*standing[turn:], *standing[:turn]):
            times[layer.name] += layer.call(TURN)
    for layer in standing:
        its = times[layer.name]
        layer.note({"median": median(its), "p95": quantiles(its, n=20)[-1]})
        layer.end()


def draw(rows: Rows, path: Path) -> None:
    """Left the time to start by the number of workers, right the broadcast."""
    pyplot = plotting()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for layer in dict.fromkeys(str(row["layer"]) for row in rows):
        its = [row for row in rows if row["layer"] == layer and row["what"] == "start"]
        style = "-" if layer.startswith("placewright") else "--"
        left.plot([int(str(row["workers"])) for row in its], [float(str(row["seconds"])) for row in its], style, marker="o", label=layer)
    left.set(xlabel="workers", ylabel="seconds until each has answered", ylim=(0, None))
    left.legend(fontsize="small")
    calls = [row for row in rows if row["what"] == "broadcast"]
    right.barh([str(row["layer"]) for row in calls], [float(str(row["p95_ms"])) for row in calls], color="#c8d4e8", label="95th percentile")
    right.barh([str(row["layer"]) for row in calls], [float(str(row["ms"])) for row in calls], color="#3b6fb6", label="median")
    right.invert_yaxis()
    right.set(xlabel=f"ms for a call of {CALLED} workers")
    right.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("runtime", measure, draw).main()
