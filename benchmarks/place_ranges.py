"""Contiguous and strided jobs, as RLinf's and ROLL's ranges: how long until they are placed, and until nothing better is proved possible.

Four jobs on clean clusters and beside other jobs that hold something on 15 % of the nodes. A process of its own for each row, one after the
other. `seconds_build` are CPU seconds for the solver's model, `seconds_first` to the first answer, `seconds_proof` to the proof that none is
better, empty where that did not happen within the limit; `objective` and `bound` list the terms, the most important first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

from placing.one_ranges_case import Case
from placing.ranges import ALONE, JOBS
from study import Rows, Study, each_alone, plotting

SCRIPT = Path(__file__).resolve().parent / "placing" / "one_ranges_case.py"
LIMIT = 30.0


def cases(full: bool) -> Iterator[Case]:
    """Every case; without `full` the smallest size, on free machines."""
    for size in (512, 4096, 16384) if full else (512,):
        for job in JOBS:
            for occupied in (0.0, 0.15) if full and job not in ALONE else (0.0,):
                for seed in (1, 2, 3) if full and occupied else (1,):
                    yield Case(job, size, occupied, seed, LIMIT)


def measure(full: bool) -> Rows:
    """One row for each case."""
    return each_alone(SCRIPT, cases(full))


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds to the proof over accelerators, one colour for each job; hollow where it was not proved."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for number, job in enumerate(JOBS):
        for row in (row for row in rows if row["job"] == job):
            colour, proved = f"C{number}", row["seconds_proof"] != ""
            axes.plot(row["accelerators"], row["seconds"], "o", color=colour, markerfacecolor=colour if proved else "white")
        axes.plot([], [], "o", color=f"C{number}", label=job)
    axes.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds to the proof (hollow: not proved)")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("place_ranges", measure, draw).main()
