"""Search on problems that it was not tuned to: six families, placewright beside four other ways, in one run.

A process of its own for each row, one after the other. Peers minimise the same tiers on plain rows of their own; that what they find can
be put on accelerators is not checked. At two sizes placewright also goes without one of its stages at a time. `tiers` are what the
tiers of the objective cost, `bounds` what is proved of each. HiGHS is run where highspy is installed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Iterator

from placing.ablation import ABLATIONS
from placing.families import KINDS
from placing.one_family_case import CP_SAT, GREEDY, HIGHS, OURS, SCIP, Case
from study import Rows, Study, each_alone, plotting

SCRIPT = Path(__file__).resolve().parent / "placing" / "one_family_case.py"
SIZES = (512, 2048, 4096, 16384)
ABLATED = (512, 2048)
LIMIT, QUICK_LIMIT = 15.0, 2.0
SEEDS = (1,)


def cases(full: bool) -> Iterator[Case]:
    """Every case; without `full` the smallest size of one family."""
    for kind in KINDS if full else KINDS[:1]:
        for size in SIZES if full else SIZES[:1]:
            for seed in SEEDS:
                for way in (GREEDY, OURS, CP_SAT, SCIP, HIGHS) if full else (GREEDY, OURS, CP_SAT):
                    yield Case(kind, size, seed, way, LIMIT if full else QUICK_LIMIT)
                for way in ABLATIONS if full and size in ABLATED else ():
                    yield Case(kind, size, seed, way, LIMIT)


def measure(full: bool) -> Rows:
    every = list(cases(full))
    has_highs = find_spec("highspy") is not None
    ran = [case for case in every if case.way != HIGHS or has_highs]
    rows = iter(each_alone(SCRIPT, ran))
    skipped: dict[str, object] = {"way": HIGHS, "skipped": "highspy is not installed"}
    return [
        next(rows) if case in ran else {"kind": case.kind, "accelerators": case.accelerators, "seed": case.seed, **skipped}
        for case in every
    ]


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds over accelerators, a picture for each family; hollow where something is not proved."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(2, 3, figsize=(11, 6.5), sharex=True, sharey=True)
    for kind, axis in zip(KINDS, axes.flat):
        for way in (OURS, CP_SAT, SCIP, HIGHS):
            its = [row for row in rows if row["kind"] == kind and row["way"] == way and "skipped" not in row]
            sizes, seconds = [row["accelerators"] for row in its], [row["seconds"] for row in its]
            (line,) = axis.plot(sizes, seconds, label=way, alpha=0.7)
            proved = [row["status"] == "optimal" for row in its]
            colours = [line.get_color() if yes else "white" for yes in proved]
            axis.scatter(sizes, seconds, c=colours, edgecolors=line.get_color(), zorder=3)
        axis.set(xscale="log", yscale="log", title=kind)
    axes[0][0].legend(fontsize="small")
    figure.supxlabel("accelerators")
    figure.supylabel("CPU seconds (hollow: not all proved)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("place_families", measure, draw).main()
