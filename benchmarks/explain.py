"""Why not? Impossible problems of the family: how long the reason takes, and whether it is right.

Three causes on clusters of 512 to 16384 accelerators. Of each conflict it is checked, by solving, that it is impossible alone and
possible without any one of its demands; its sum is counted again by benchmarks/placing/recheck.py, which knows nothing of
placewright; every change that is offered is made, and the problem solved. CPU seconds of this process.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from placewright.models.problem import Problem
from placewright.solver.refuting.impossible import Conflict, find_conflict
from placewright.solver.searching.search import solve
from placing.broken import CAUSES, broken, can_be, certificate
from study import Rows, Study, plotting

QUICK, FULL = (512,), (512, 1024, 4096, 16384)
QUICK_SEEDS, SEEDS = 1, 5
LIMIT = 1.0
"""Deterministic seconds for each check by solving; an answer is enough, the best one is not asked for."""
RECHECK = Path(__file__).parent / "placing" / "recheck.py"


def measure(full: bool) -> Rows:
    """One row for each problem."""
    find_conflict([broken(64, CAUSES[2], 1)])  # what is loaded once is not measured
    rows: Rows = []
    for size in FULL if full else QUICK:
        seeds = islice((seed for seed in range(1, 100) if can_be(size, seed)), SEEDS if full else QUICK_SEEDS)
        for seed in seeds:
            rows += [_row(size, cause, seed) for cause in CAUSES]
    return rows


def _row(size: int, cause: str, seed: int) -> dict[str, object]:
    problem = broken(size, cause, seed)
    gc.collect()  # what the checks of the row before left behind is not measured
    began = time.process_time()
    answer = solve(problem)
    whole = time.process_time() - began
    gc.collect()
    began = time.process_time()
    conflict = find_conflict([problem])
    seconds = time.process_time() - began
    solved = [solve(change.apply(problem), limit=LIMIT).plan is not None for change in conflict.fixes]
    return {
        "accelerators": size, "cause": cause, "seed": seed, "verdict": answer.verdict, "seconds": round(seconds, 4),
        "seconds_to_verdict_and_reason": round(whole, 4), "members": len(conflict.demands), "said_minimal": conflict.minimal,
        "minimal": _minimal(conflict), "certificate": _counted_again(problem, conflict), "fixes": len(solved), "fixes_solved": sum(solved),
    }  # fmt: skip


def _minimal(conflict: Conflict) -> bool:
    """Is it impossible alone, and possible without any one demand?"""
    if solve(conflict.problem, limit=LIMIT).verdict != "impossible":
        return False
    return all(solve(conflict.problem.without(demand), limit=LIMIT).plan is not None for demand in conflict.demands)


def _counted_again(problem: Problem, conflict: Conflict) -> bool:
    """Does a script that knows only the data of the certificate come to the same sum?"""
    if conflict.row is None:
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(certificate(problem, conflict.row), file)
        file.flush()
        return subprocess.run([sys.executable, "-I", str(RECHECK), file.name], check=False).returncode == 0


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators, a mark for each problem."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for position, cause in enumerate(CAUSES):
        its = [row for row in rows if row["cause"] == cause]
        shift = 0.9 + 0.1 * position
        axes.plot([float(str(row["accelerators"])) * shift for row in its], [row["seconds"] for row in its], "o", alpha=0.6, label=cause)
    axes.axhline(0.6, color="grey", linewidth=0.8, linestyle="--", label="asked: 0.6 s")
    axes.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds to the reason and its changes")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("explain", measure, draw).main()
