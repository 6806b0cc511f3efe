"""Placement of workers on each Ray version: 14 workers on a simulated 2x8, each version in an environment of its own.

`python benchmarks/ray_versions.py` tries the oldest and the newest, `--full` all. The environments stay in PLACEWRIGHT_ENVIRONMENTS, by default
in the user's cache. A row says whether all workers ran as planned, and the seconds of the whole command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import requires
from pathlib import Path

from study import Rows, Study, plotting

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = Path(os.environ.get("PLACEWRIGHT_ENVIRONMENTS", Path.home() / ".cache" / "placewright" / "ray"))
VERSIONS = ("2.41.0", "2.46.0", "2.47.1", "2.48.0", "2.49.0", "2.49.2", "2.50.0", "2.55.1", "2.60.0")
NEEDS = tuple(need for need in requires("placewright") or () if "extra ==" not in need)
JOB = """\
cluster: 2x8xH100
components:
  actor: {accelerators: 8, processes: 4}
  rollout: {accelerators: 8, processes: 8, disjoint_from: actor}
  agent: {node_group: node, processes: 2}
"""
PLACED = "14 workers of 3 components ran on 2 simulated nodes, each as planned; all ended"
LIMIT = 400.0


def python_with(version: str) -> Path:
    """The interpreter of an environment with this Ray, made the first time."""
    folder = ENVIRONMENTS / version
    python, is_whole = folder / "bin" / "python", folder / "ok"
    if not is_whole.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
        install = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
        ]
        subprocess.run([*install, f"ray[default]=={version}", *NEEDS], check=True)
        is_whole.touch()
    return python


def measure(full: bool) -> Rows:
    """One row for each version."""
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.yaml"
        job.write_text(JOB)
        return [_row(version, job) for version in (VERSIONS if full else (VERSIONS[0], VERSIONS[-1]))]


def _row(version: str, job: Path) -> dict[str, object]:
    try:
        python = python_with(version)
    except subprocess.CalledProcessError:
        return {"ray": version, "placed": "not installed", "seconds": 0.0, "why": "pip could not install it"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".typing")}
    command = [str(python), "-m", "placewright", "launch", str(job), "--simulate", "--progress", "none"]
    began = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=job.parent, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"ray": version, "placed": "no", "seconds": LIMIT, "why": f"not ended within {LIMIT:g} s"}
    seconds = round(time.perf_counter() - began, 1)
    is_placed = PLACED in done.stdout
    why = "" if is_placed else next((line for line in done.stderr.splitlines() if line.startswith("error")), f"exit code {done.returncode}")
    return {"ray": version, "placed": "as planned" if is_placed else "no", "seconds": seconds, "why": why}


def draw(rows: Rows, path: Path) -> None:
    """Seconds of each version; grey where the workers were not placed as planned."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    colours = ["#3b6fb6" if row["placed"] == "as planned" else "#b0b0b0" for row in rows]
    axes.bar([str(row["ray"]) for row in rows], [float(str(row["seconds"])) for row in rows], color=colours)
    axes.set(xlabel="Ray", ylabel="seconds from command to end")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("ray_versions", measure, draw).main()
