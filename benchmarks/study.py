"""What every study shares: its command line, the machine it ran on, and where its figures and its picture go."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, Iterable

Rows = list[dict[str, object]]
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Study:
    """A named set of measurements: `measure(full)` gives one row each, `draw(rows, path)` a picture of them."""

    name: str
    measure: Callable[[bool], Rows]
    draw: Callable[[Rows, Path], None]

    def main(self) -> None:
        """Runs the study as its command line says. `--full` also renews the figures and the picture in results/."""
        parser = argparse.ArgumentParser(description=f"The study `{self.name}`.")
        parser.add_argument("--full", action="store_true", help="measure everything, not only what ends within a minute")
        parser.add_argument("--json", metavar="FILE", help="write the figures to this file")
        options = parser.parse_args()
        if options.full and find_spec("matplotlib") is None:
            parser.error("--full draws a picture with matplotlib, which is not installed: `pip install -c constraints.txt -e .[dev]`")
        rows = self.measure(options.full)
        text = json.dumps({"study": self.name, "machine": machine(), "rows": rows}, indent=1) + "\n"
        if options.json:
            Path(options.json).write_text(text, "utf-8")
        if options.full:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{self.name}.json").write_text(text, "utf-8")
            self.draw(rows, RESULTS / f"{self.name}.svg")
        print(table(rows))


def each_alone(script: Path, cases: Iterable[Any]) -> Rows:
    """One row for each case, which is a dataclass: what a script prints last of it, in a process of its own. Raises SystemExit if one fails."""
    rows: Rows = []
    for case in cases:
        done = subprocess.run([sys.executable, str(script), json.dumps(asdict(case))], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{case}: {done.stderr}")
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    return rows


def plotting() -> Any:
    """Matplotlib's pyplot, which draws the same figures as the same text."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "placewright"
    from matplotlib import pyplot

    return pyplot


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "ortools": version("ortools"),
    }


def table(rows: Rows) -> str:
    """The rows as columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
