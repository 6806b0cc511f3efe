"""What verifying a placement costs from a thousand accelerators to a million, with all Placements made and without them.

placewright: reading the file, parsing and checking it, its Assignment, and the Placements where they are made. RLinf, where the
environment variable PLACEWRIGHT_RLINF names a checkout of it: its own ComponentPlacement and get_placement for the same text,
in the same run, stopped after a limit; the Placements of both must be equal. CPU seconds after all imports, median of `runs`;
every case is a process of its own, and `peak_mb` the most memory that this process had (VmHWM, elsewhere ru_maxrss). A strategy of
RLinf checks nothing before it places, so it is measured with all Placements made alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from scale.case import COMPONENTS, FORMS, SEGMENTS, TEXTS, Case, longest
from study import Rows, Study, plotting

HERE = Path(__file__).resolve().parent / "scale"
OURS, THEIRS = "placewright", "RLinf"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MADE_UP_TO = 10_000
"""Without `--full` no more Placements are made."""
LIMIT, QUICK_LIMIT = 60, 15


def cases(full: bool) -> list[Case]:
    """What is measured: every form at every size, as far as it can be said there; without `full` at fewer sizes."""
    found = []
    for form in FORMS:
        every = SIZES if full else SIZES[:2]
        sizes = every if form != SEGMENTS else (*(size for size in every if size < longest()), longest())
        for size in sizes:
            for made in (False, True):
                if full or made == (size <= MADE_UP_TO):
                    found.append(Case(form, size, made, 7 if full else 1, LIMIT if full else QUICK_LIMIT))
    return found


def measure(full: bool) -> Rows:
    """One row for each case and tool."""
    rows: Rows = []
    checkout = os.environ.get("PLACEWRIGHT_RLINF")
    stopped: dict[tuple[str, bool], int] = {}
    for case in cases(full):
        ours = child("ours.py", case)
        rows.append(_row(OURS, case, ours))
        if not checkout or (not full and case.accelerators > SIZES[0]) or (case.form not in TEXTS and not case.made):
            continue
        before = stopped.get((case.form, case.made))
        theirs = child("rlinf_itself.py", case) if before is None else None
        if theirs is None:
            stopped.setdefault((case.form, case.made), case.accelerators)
        elif theirs["digest"] != ours["digest"]:  # type: ignore[index]
            raise SystemExit(f"the Placements of {case} differ")
        why = f"over {case.limit} s" if before is None else f"not run: over {case.limit} s at {before:,}"
        rows.append(_row(THEIRS, case, theirs, why))
    return rows


def child(program: str, case: Case) -> dict[str, object] | None:
    """The figures of one case, measured in a process of its own; None if it was stopped at its limit."""
    command = [sys.executable, str(HERE / program), json.dumps(asdict(case))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return None
    if done.returncode:
        raise SystemExit(f"{program}: {done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def _row(tool: str, case: Case, found: dict[str, object] | None, why: str = "") -> dict[str, object]:
    row: dict[str, object] = {"tool": tool, "form": case.form, "components": COMPONENTS[case.form], "accelerators": case.accelerators}
    if found is None:
        return {**row, "made": case.made, "placements": "", "cpu_seconds": None, "peak_mb": None, "runs": 0, "result": why}
    seconds, peak = round(float(str(found["cpu_seconds"])), 6), round(float(str(found["peak_mb"])), 1)
    count = {"made": case.made, "placements": found["placements"]}
    return {**row, **count, "cpu_seconds": seconds, "peak_mb": peak, "runs": found["runs"], "result": "done"}


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators: without Placements and with all of them; a case that was stopped points upwards at its limit."""
    pyplot = plotting()
    figure, both = pyplot.subplots(1, 2, figsize=(13, 4.5), sharey=True, layout="constrained")
    colours = dict(zip(FORMS, pyplot.rcParams["axes.prop_cycle"].by_key()["color"]))
    for axes, made, title in ((both[0], False, "parsed and checked, an Assignment"), (both[1], True, "all Placements made")):
        for form in FORMS:
            for tool, style in ((OURS, "-"), (THEIRS, "--")):
                its = [row for row in rows if (row["tool"], row["form"], row["made"]) == (tool, form, made)]
                done = [(row["accelerators"], row["cpu_seconds"]) for row in its if row["result"] == "done"]
                over = [row["accelerators"] for row in its if str(row["result"]).startswith("over")]
                if done:
                    axes.plot(*zip(*done), style, marker="o", markersize=4, color=colours[form], label=f"{tool}: {form}")
                axes.plot(over, [LIMIT] * len(over), linestyle="", marker="^", color=colours[form])
        axes.set(xscale="log", yscale="log", xlabel="accelerators", title=title)
    both[0].set_ylabel(f"CPU seconds (triangle: stopped after {LIMIT})")
    figure.legend(*both[1].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("verify_scale", measure, draw).main()
