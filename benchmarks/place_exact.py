"""Is the answer really the best one? placewright against every way to divide small problems, and against two obvious models.

Problems of the family up to 256 accelerators. `optimum` is the least of all ways to divide the components among the racks, where
these can be tried; the obvious model has a start for every group (CP-SAT) or a count for every node (HiGHS). A disagreement is
another verdict, another proved optimum, an answer that breaks a demand, or a price that the answer has not; answers are judged and
priced by benchmarks/placing/counts.py, which knows none of placewright's rules.
"""

from __future__ import annotations

import time
from itertools import islice, product
from pathlib import Path
from typing import Iterator

from placewright.models.problem import Problem
from placewright.solver.searching.search import solve
from placing.counts import counts_of, faults, price
from placing.family import instance
from placing.peers.exhaustive import TooLarge, least_price
from placing.peers.highs import highs
from placing.peers.naive import naive
from study import Rows, Study, plotting

ACROSS = "MiB across racks"
QUICK, FULL = 3, 200
SECONDS = 0.5
"""How long each of the obvious models may search; what it has not proved by then is compared with nothing."""


def cases() -> Iterator[tuple[int, int, float, float]]:
    """(accelerators, seed, occupied, fill), the sizes taking turns."""
    for seed, occupied, fill in product(range(1, 13), (0.0, 0.15, 0.3), (0.5, 0.82)):
        for size in (64, 128, 256):
            yield size, seed, occupied, fill


def measure(full: bool) -> Rows:
    return [row(*case, limit=SECONDS) for case in islice(cases(), FULL if full else QUICK)]


def row(size: int, seed: int, occupied: float, fill: float, limit: float) -> dict[str, object]:
    problem = instance(size, seed, occupied, fill)
    began = time.process_time()
    answer = solve(problem)
    seconds = time.process_time() - began
    ours = None if answer.plan is None else price(problem, counts_of(problem, answer.plan.assignment))
    tried = _tried(problem)
    start_model, node_model = naive(problem, limit), highs(problem, limit)
    theirs = {
        "tried": tried,
        "naive": (start_model.objective if start_model.counts else None) if start_model.status in ("optimal", "infeasible") else "",
        "highs": (node_model.objective if node_model.counts else None) if node_model.status in ("optimal", "infeasible") else "",
    }
    wrong = [name for name, value in theirs.items() if value != "" and (value != ours or answer.verdict not in ("optimal", "impossible"))]
    if answer.plan is not None:
        wrong += list(faults(problem, counts_of(problem, answer.plan.assignment)))
        said = sum(term.value for term in answer.plan.terms if term.name.startswith(ACROSS) or "MiB" in term.name)
        wrong += [f"{said} MiB are said, {ours} are needed"] if said != ours else []
    return {
        "accelerators": size, "seed": seed, "occupied": occupied, "fill": fill, "status": answer.verdict,
        "objective": "none" if ours is None else ours, **{name: "none" if value is None else value for name, value in theirs.items()},
        "seconds": round(seconds, 4), "disagreements": len(wrong), "wrong": "; ".join(wrong),
    }  # fmt: skip


def _tried(problem: Problem) -> int | str | None:
    """The least price of all ways; "" where there are too many."""
    try:
        return least_price(problem)
    except TooLarge:
        return ""


def draw(rows: Rows, path: Path) -> None:
    """Seconds of placewright over accelerators, one dot for each problem; a cross where anything disagrees."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for mark, wanted in (("o", 0), ("x", 1)):
        its = [row for row in rows if bool(row["disagreements"]) == bool(wanted)]
        if its:
            label = f"{len(its)} problems that {'disagree' if wanted else 'agree'}"
            axes.plot([row["accelerators"] for row in its], [row["seconds"] for row in its], mark, label=label, alpha=0.5)
    axes.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds to the proof")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("place_exact", measure, draw).main()
