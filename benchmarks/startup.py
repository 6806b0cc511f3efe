"""What a command costs before it does anything, and verifying a file in all, beside what any tool in Python must pay.

Peers, in the same run: Python itself, `import yaml, click` (what any command line that reads YAML must pay), PyYAML reading the same
text, and importing the libraries that `verify` leaves out. CPU seconds of whole processes, median of several runs, bytecode cached;
`ratio` is to `import yaml, click`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from study import Rows, Study, plotting

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
COMMAND = "import sys; sys.argv[0] = 'placewright'; from placewright.cli.main import main; main()"
BASE = "import yaml, click"
SOLO = {
    "python": ["pass"],
    BASE: ["import yaml, click"],
    "import ortools": ["from ortools.sat.python import cp_model"],
    "import ray": ["import ray"],
    "import networkx": ["import networkx"],
}
FILES = (
    ("RLinf", "rlinf/reasoning.yaml", "x8xH100"),
    ("ROLL", "roll/rlvr.yaml", "2x8xH100"),
    ("verl", "verl/ppo.sh", "4x8xH100"),
    ("native", "native/ranks.yaml", "2x8xH100"),
)
"""One file of each dialect: its name, the example, and the machines."""
QUICK, FULL = 1, 7


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
            **{
                f"placewright verify, {name}": [COMMAND, "verify", str(EXAMPLES / path), "--cluster", machines]
                for name, path, machines in FILES
            },
            "PyYAML, the same text": [reader],
            **(SOLO if full else {BASE: SOLO[BASE]}),
        }
        seconds = {way: _median(arguments, FULL if full else QUICK, folder) for way, arguments in ways.items()}
        return [{"way": way, "cpu_seconds": round(spent, 4), "ratio": round(spent / seconds[BASE], 2)} for way, spent in seconds.items()]


def _median(arguments: list[str], runs: int, folder: Path) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", *arguments], env=environment, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
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
