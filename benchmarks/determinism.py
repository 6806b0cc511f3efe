"""The same question gets the same answer: in one process again and again, in processes that hash otherwise, and in the sandbox.

What is compared is everything that an answer says but for the time it took: the placements, the objective term by term with its bounds,
and where there is no answer every word of the reason. Limits are deterministic, so a search that is cut short gives the same answer too.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from study import Rows, Study, plotting

AGAIN = Path(__file__).parent / "repeating" / "again.py"
PROCESSES = 3
LONG = 10.0
QUICK = (
    ("examples", "native/hints.yaml", LONG, 5),
    ("cut short", "family/512/1", 0.002, 2),
    ("impossible", "too much, family/64/1", LONG, 2),
)
"""(what it shows, question, limit in deterministic seconds, how often in each process)."""
FULL = (
    ("examples", "quickstart.yaml", LONG, 20),
    ("examples", "hints.yaml", LONG, 20),
    ("examples", "native/hints.yaml", LONG, 20),
    ("examples", "native/relations.yaml", LONG, 20),
    *(("family", f"family/{size}/{seed}", LONG, 20) for size in (64, 256, 512, 1024) for seed in (1, 2)),
    ("family", "family/4096/1", LONG, 20),
    *(("cut short", f"family/{size}/{seed}", limit, 20) for size, seed, limit in ((512, 1, 0.002), (1024, 2, 0.02), (4096, 1, 0.3), (4096, 2, 1.0))),
    ("impossible", "too much, family/64/1", LONG, 20),
    ("impossible", "too much, family/1024/1", LONG, 20),
)  # fmt: skip


def measure(full: bool) -> Rows:
    """One row for each question."""
    rows: Rows = []
    for what, name, limit, runs in FULL if full else QUICK:
        found = [_process(name, limit, runs, number) for number in range(PROCESSES)]
        answers = {answer for each in found for answer in each["answers"]}
        rows.append({
            "kind": what, "question": name, "limit": limit, "processes": PROCESSES, "runs": PROCESSES * runs, "in_sandbox": PROCESSES,
            "different_answers": len(answers), "verdict": found[0]["verdict"], "how": found[0]["how"], "gap": found[0]["gap"],
            "digest": found[0]["digest"], "cpu_seconds": max(each["cpu_seconds"] for each in found),
        })  # fmt: skip
    return rows


def _process(name: str, limit: float, runs: int, number: int) -> dict[str, list[str]]:
    """The question in a process with another hash of strings."""
    seed = random.Random(f"{name} {number}").randrange(1, 2**32)
    command = [sys.executable, str(AGAIN), name, str(limit), str(runs), "1"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": str(seed)})
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def draw(rows: Rows, path: Path) -> None:
    """For every question how often it was solved, and how many different answers there were."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(8, 0.32 * len(rows) + 1.2), layout="constrained")
    names = [f"{row['question']}, limit {row['limit']:g} s ({row['verdict']})" for row in rows]
    axes.barh(names, [int(str(row["runs"])) + int(str(row["in_sandbox"])) for row in rows], color="#c8d4e8", label="times solved")
    axes.barh(names, [int(str(row["different_answers"])) for row in rows], color="#c0392b", label="different answers")
    for position, row in enumerate(rows):
        axes.text(int(str(row["different_answers"])) + 0.6, position, str(row["different_answers"]), va="center", fontsize=8)
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("determinism", measure, draw).main()
