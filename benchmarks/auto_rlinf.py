"""How good are the placements that RLinf's tool finds, and how long does it take? placewright under RLinf's own cost model, beside it.

`rlinf_cost` and `rlinf_seconds` are those of its algorithm, restated from its formulas (auto/restated.py); where PLACEWRIGHT_RLINF names a
checkout of RLinf, `tool_cost` and `tool_seconds` are those of its own tool, and must be the same cost. Costs are seconds of an iteration in
the tool's own units; seconds are of CPU. `lost` are the rows in which RLinf's placement is better.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from auto.asking import asked
from auto.cases import SIZES, Case, cases
from auto.ours import question
from auto.restated import Crashes, Restated
from placewright.models.planning.workload import SECOND
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search
from study import Rows, Study, plotting

GRAIN = 2e-5
"""Seconds: our times are rounded up to whole ns of a batch, and curves to whole ns."""
CRASHES = "crashes"


def measure(full: bool) -> Rows:
    return [row(case) for case in cases(full)]


def row(case: Case) -> dict[str, object]:
    model = cost_model("rlinf-embodied" if case.task == "embodied" else "rlinf")
    began = time.process_time()
    asked_ = question(case)  # with the tables of times, as the tool makes them
    found = search(asked_, model)
    seconds = time.process_time() - began
    if found.best is None or (wrong := list(faults(asked_, model, found.best.design))):
        raise SystemExit(f"{case}: no answer, or a wrong one: {'' if found.best is None else wrong}")
    cost = found.best.price[0] / SECOND
    began = time.process_time()
    theirs = _restated(case)
    rlinf_seconds = time.process_time() - began
    gain = "" if isinstance(theirs, str) else 0.0 if abs(theirs - cost) <= GRAIN else round(100 * (theirs / cost - 1), 4)
    return {
        "task": case.task, "accelerators": case.accelerators, "components": len(case.chain), "seed": case.seed, "cost": round(cost, 6),
        "rlinf_cost": round(theirs, 6) if isinstance(theirs, float) else theirs, "gain_percent": gain,
        "lost": isinstance(theirs, float) and cost > theirs + GRAIN, "proved": found.proved, "seconds": round(seconds, 4),
        "rlinf_seconds": round(rlinf_seconds, 4), **_tool(case, theirs),
    }  # fmt: skip


def _restated(case: Case) -> float | str:
    try:
        best = Restated(case).best()
    except Crashes:
        return CRASHES
    return "none" if best is None else float(best.total / SECOND)


def _tool(case: Case, restated: float | str) -> dict[str, object]:
    """What its own tool says, where there is a checkout. Ends the study where that is not what was restated."""
    checkout = os.environ.get("PLACEWRIGHT_RLINF", "")
    if not checkout or set(case.chain) & {"critic", "reward_model"}:  # of other components it says at once that it knows them not
        return {"tool_cost": "", "tool_seconds": ""}
    answer = asked(checkout, case)
    found = answer.get("total", CRASHES if answer.get("error") == "TypeError" else "none")
    alike = abs(found - restated) <= 1e-6 * restated if isinstance(found, float) and isinstance(restated, float) else found == restated
    if not alike:
        raise SystemExit(f"{case}: the tool says {answer}, restated it is {restated}")
    return {"tool_cost": round(found, 6) if isinstance(found, float) else found, "tool_seconds": round(answer["seconds"], 4)}


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators of both; and by how much each of RLinf's placements is above the optimum."""
    pyplot = plotting()
    figure, (times, gains) = pyplot.subplots(1, 2, figsize=(11, 4))
    for key, label, mark in (
        ("seconds", "placewright, proved", "o"),
        ("rlinf_seconds", "RLinf's algorithm", "s"),
        ("tool_seconds", "RLinf's tool", "x"),
    ):
        its = [row for row in rows if row[key] != ""]
        if its:
            times.plot([row["accelerators"] for row in its], [max(1e-4, float(str(row[key]))) for row in its], mark, label=label, alpha=0.5)
    times.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds")
    compared = [row for row in rows if row["gain_percent"] != ""]
    gains.plot([row["accelerators"] for row in compared], [float(str(row["gain_percent"])) for row in compared], "o", alpha=0.5)
    gains.set(xscale="log", xlabel="accelerators", ylabel="RLinf's placement above the optimum, %")
    for axes in (times, gains):
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
    times.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("auto_rlinf", measure, draw).main()
