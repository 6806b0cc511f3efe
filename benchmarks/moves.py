"""Nodes die under a running job: how many groups must move, how fast that is known, and what it costs, beside solving anew.

`lost` groups were on dead nodes; `moved` are others that could have stayed; `proved` says that no answer moves fewer. Seconds are CPU
seconds of this process: `seconds_moves` until the fewest moves are proved, `seconds` until the search ends with the cost as well.
`cost_before`, `cost` and `cold_cost` are MiB across racks; `cold_moved` is what an answer moves that knows nothing of the one before.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

from placewright.models.machines.node_group import ACCELERATOR
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.solver.objectives.moves import MoveTerm
from placewright.solver.replanning import lose, moves, replan
from placewright.solver.searching.progress import Incumbents
from placewright.solver.searching.search import solve
from placing.family import instance
from study import Rows, Study, plotting

OCCUPIED, FILL = 0.15, 0.7
QUICK = ((512, (1, 4)),)
FULL = tuple((size, (1, 4, 16)) for size in (512, 4096, 16384))
LIMITS = {512: 5.0, 4096: 10.0, 16384: 20.0}
SEEDS = (1, 2)
MIB = "MiB"


def dead_nodes(problem: Problem, plan: Plan, count: int, seed: int) -> list[int]:
    """So many of the nodes whose accelerators the plan uses."""
    used = {run.node for name in plan.components for run in plan.assignment.of(name) if run.kind == ACCELERATOR}
    return sorted(random.Random(seed).sample(sorted(used), count))


class Clock:
    """CPU seconds until the fewest moves were proved, as the search tells it."""

    def __init__(self) -> None:
        self.began, self.proved = time.process_time(), None

    def told(self, progress: Incumbents) -> None:
        """How the search stands."""
        terms = progress.plan.terms if progress.plan else ()
        if self.proved is None and any(term.name == MoveTerm.name and term.value == term.bound for term in terms):
            self.proved = self.seconds

    @property
    def seconds(self) -> float:
        """CPU seconds since it was started."""
        return time.process_time() - self.began


def cost(plan: Plan) -> int:
    """MiB across racks."""
    return sum(term.value for term in plan.terms if term.name.startswith(MIB))


def measured(problem: Problem, before: Plan, dead: int, seed: int) -> dict[str, object]:
    """One row: some nodes die."""
    size = problem.cluster.total()
    left = lose(problem, dead_nodes(problem, before, dead, seed))
    row: dict[str, object] = {"accelerators": size, "seed": seed, "dead": dead}
    clock = Clock()
    question = replan(left, before)
    answer = solve(question, LIMITS[size], on_progress=clock.told)
    seconds = clock.seconds
    cold_clock = Clock()
    cold = solve(left, LIMITS[size])
    cold_seconds = cold_clock.seconds
    if answer.plan is None or cold.plan is None:
        return {**row, "verdict": answer.verdict}
    found = moves(question, before, answer.plan)
    return {
        **row, "verdict": answer.verdict, "groups": found.lost + found.moved + found.kept, "lost": found.lost, "moved": found.moved,
        "proved": found.proved, "seconds_moves": _rounded(clock.proved), "seconds": _rounded(seconds), "renumbered": found.renumbered,
        "cost_before": cost(before), "cost": cost(answer.plan), "cold_cost": cost(cold.plan),
        "cold_moved": MoveTerm().value(question, cold.plan.assignment), "cold_seconds": _rounded(cold_seconds),
    }  # fmt: skip


def _rounded(seconds: float | None) -> object:
    return "" if seconds is None else round(seconds, 3)


def measure(full: bool) -> Rows:
    """One row for each size, seed and number of dead nodes."""
    rows: Rows = []
    for size, counts in FULL if full else QUICK:
        for seed in SEEDS if full else SEEDS[:1]:
            problem = instance(size, seed, OCCUPIED, FILL)
            plan = solve(problem, LIMITS[size]).plan
            if plan is None:
                raise SystemExit(f"no answer for {size} accelerators")
            rows += [measured(problem, replace(plan, seconds=0.0), dead, seed) for dead in counts]
    return rows


def draw(rows: Rows, path: Path) -> None:
    """Groups that move beyond those that were lost, and CPU seconds to the proof, with and without regard to what ran before."""
    pyplot = plotting()
    its = [row for row in rows if "moved" in row]
    names = [f"{row['accelerators']}: {row['dead']} dead" for row in its]
    figure, (counts, seconds) = pyplot.subplots(1, 2, figsize=(11, 4 + 0.1 * len(its)), sharey=True)
    places = range(len(its))
    for axes, near, cold in ((counts, "moved", "cold_moved"), (seconds, "seconds_moves", "cold_seconds")):
        axes.barh([place + 0.2 for place in places], [float(str(row[near] or 0)) for row in its], 0.4, label="fewest moves")
        axes.barh([place - 0.2 for place in places], [float(str(row[cold])) for row in its], 0.4, label="solved anew")
        axes.set_yticks(list(places), names)
        axes.set_xscale("symlog", linthresh=1 if axes is counts else 0.1)
    counts.set(xlabel="groups moved beyond those that were lost")
    seconds.set(xlabel="CPU seconds (fewest moves: until proved)")
    counts.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("moves", measure, draw).main()
