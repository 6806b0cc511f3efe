"""RLHF jobs of four to six models on 64 to 1024 accelerators: which models share accelerators, how many, with which strategies.

The peer enumerates as HybridFlow's Algorithm 1 does (arXiv 2409.19256; re-implemented from its idea in hybrid/enumeration.py) and is cut after
`LIMIT` CPU seconds: then `plans` of `all_plans` were priced. Both have the same times, memory and cost, the sum over the stages of the slowest
set's sum. `cost` is in seconds an iteration; a row whose search is proved and that the enumeration contradicts ends the study.
A process of its own for each row, one after the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

from hybrid.one_case import Case
from study import Rows, Study, each_alone, plotting

SCRIPT = Path(__file__).resolve().parent / "hybrid" / "one_case.py"
LIMIT = 10.0
SIZES = (64, 128, 256, 512, 1024)


def cases(full: bool) -> Iterator[Case]:
    """Every case; without `full` four that end soon. Counts are any at 64 accelerators, whole nodes of 8 beyond."""
    if not full:
        yield from (Case(4, 64, 8, 1, 5.0), Case(4, 256, 8, 2, 5.0), Case(5, 128, 8, 1, 5.0), Case(6, 64, 8, 1, 5.0))
        return
    for models in (4, 5, 6):
        for size in SIZES:
            for seed in (1, 2):
                yield Case(models, size, 1 if size == SIZES[0] else 8, seed, LIMIT)


def measure(full: bool) -> Rows:
    """One row for each case."""
    return each_alone(SCRIPT, cases(full))


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators, one colour for each number of models; hollow where the enumeration was cut."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for number, models in enumerate(sorted({int(str(row["models"])) for row in rows})):
        colour, its = f"C{number}", [row for row in rows if row["models"] == models]
        for row in its:
            face = "white" if row["cut"] else colour
            axes.plot(row["accelerators"], row["enumeration_seconds"], "s", color=colour, markerfacecolor=face)
            axes.plot(row["accelerators"], row["seconds"], "o", color=colour, markerfacecolor=colour if row["proved"] else "white")
        axes.plot([], [], "o", color=colour, label=f"{models} models")
    axes.plot([], [], "s", color="grey", label="enumeration (hollow: cut)")
    axes.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds to the proof")
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("auto_hybrid", measure, draw).main()
