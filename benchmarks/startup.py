"""What a command costs before it does anything, and verifying a file in all, beside what any tool in Python must pay.

Peers, in the same run: Python itself, PyYAML reading the same text, and importing the libraries that `verify` leaves out.
CPU seconds of whole processes, median of several runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from study import Rows, Study, plotting

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
COMMAND = "import sys; sys.argv[0] = 'placewright'; from placewright.cli.main import main; main()"
SOLO = {
    "python": ["pass"],
    "import ortools": ["from ortools.sat.python import cp_model"],
    "import ray": ["import ray"],
    "import networkx": ["import networkx"],
}
QUICK, FULL = 1, 9


def large(folder: Path) -> Path:
    """An RLinf file of about 30 kB: a job on 64 nodes among much that placement does not concern."""
    lines = ["cluster:", "  num_nodes: 64", "  component_placement:"]
    lines += [f"    c{number}: {number * 16}-{number * 16 + 15}" for number in range(32)]
    lines += ["actor:", *(f"  option_{number}: {{value: {number}, of: [1, 2, 3]}}" for number in range(600))]
    path = folder / "large.yaml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def measure(full: bool) -> Rows:
    """One row for each command and peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = large(folder)
        reader = f"import yaml; yaml.load(open({str(file)!r}), yaml.CSafeLoader)"
        ways = {
            "placewright --help": [COMMAND, "--help"],
            "placewright verify, example": [COMMAND, "verify", str(EXAMPLES / "faulty.yaml"), "--cluster", "2x8xH100"],
            f"placewright verify, {file.stat().st_size // 1000} kB": [COMMAND, "verify", str(file), "--cluster", "x8xH100"],
            "PyYAML, the same text": [reader],
            **SOLO,
        }
        return [
            {"way": way, "cpu_seconds": round(_median(arguments, QUICK if not full else FULL, folder), 4)}
            for way, arguments in ways.items()
        ]


def _median(arguments: list[str], runs: int, folder: Path) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(runs + 1):
        before = os.times()
        subprocess.run([sys.executable, "-c", *arguments], env=environment, capture_output=True, check=False)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return median(times[1:])  # the first run compiles


def draw(rows: Rows, path: Path) -> None:
    """One bar each."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    axes.barh([str(row["way"]) for row in rows], [float(str(row["cpu_seconds"])) for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="CPU seconds of the whole process, median")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("startup", measure, draw).main()
