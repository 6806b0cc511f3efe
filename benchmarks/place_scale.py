"""How large may a job be? Problems of the family from 512 accelerators to 16384, placewright beside four other ways, in one run.

A process of its own for each row, one after the other. `seconds_first`, `seconds_1pct` and `seconds_proof` are CPU seconds to the
first answer, to one within 1 % of the last, and to the proof that none is better; empty where that did not happen within the limit.
`objective` are MiB across racks, priced by benchmarks/placing/counts.py, `bound` what is proved of any answer, `greedy_objective`
what packing in the written order costs, as RLinf's and verl's ranks go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

from placing.one_case import DECREASING, HIGHS, NAIVE, OURS, PACKED, Case
from study import Rows, Study, each_alone, plotting

SCRIPT = Path(__file__).resolve().parent / "placing" / "one_case.py"
LIMITS = {512: 10.0, 1024: 10.0, 4096: 30.0, 16384: 60.0}
SEEDS = {512: 5, 1024: 5, 4096: 5, 16384: 2}
"""How many problems of each size there are; the largest take up to a minute each."""
PEERS_LIMIT, QUICK_PEERS_LIMIT = 30.0, 0.5
NAIVE_UP_TO, HIGHS_UP_TO = 512, 4096


def cases(full: bool) -> Iterator[Case]:
    """Every case; without `full` the smallest size, half full, and one seed."""
    sizes = tuple(LIMITS) if full else (512,)
    peers_limit = PEERS_LIMIT if full else QUICK_PEERS_LIMIT
    for size in sizes:
        for occupied in (0.15, 0.3) if full else (0.15,):
            for fill in (0.5, 0.7, 0.82) if full else (0.5,):
                for seed in range(1, (SEEDS[size] if full else 1) + 1):
                    for way in (PACKED, DECREASING, OURS):
                        yield Case(size, occupied, fill, seed, way, LIMITS[size])
                    if size <= HIGHS_UP_TO and seed == 1 and occupied == 0.15:
                        yield Case(size, occupied, fill, seed, HIGHS, peers_limit)
                    if size <= NAIVE_UP_TO and seed == 1 and occupied == 0.15:
                        yield Case(size, occupied, fill, seed, NAIVE, peers_limit)


def measure(full: bool) -> Rows:
    rows: Rows = []
    greedy: dict[tuple[object, ...], object] = {}
    every = list(cases(full))
    for case, row in zip(every, each_alone(SCRIPT, every)):
        key = (case.accelerators, case.occupied, case.fill, case.seed)
        if case.way == PACKED:
            greedy[key] = row.get("objective", "")
        rows.append({**row, "greedy_objective": greedy[key]})
    return rows


def draw(rows: Rows, path: Path) -> None:
    """CPU seconds to the proof over accelerators, and what packing costs as a multiple of the optimum."""
    pyplot = plotting()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 4))
    for way in (OURS, HIGHS, NAIVE):
        its = [row for row in rows if row["formulation"] == way]
        proved = [row for row in its if row.get("seconds_proof", "") != ""]
        (dots,) = left.plot([row["accelerators"] for row in proved], [row["seconds_proof"] for row in proved], "o", label=way, alpha=0.6)
        open_ = [row for row in its if row not in proved]
        left.plot(
            [row["accelerators"] for row in open_], [row["seconds"] for row in open_], "o", color=dots.get_color(), markerfacecolor="white"
        )
    left.set(xscale="log", yscale="log", xlabel="accelerators", ylabel="CPU seconds to the proof (hollow: not proved)")
    left.legend()
    ours = [row for row in rows if row["formulation"] == OURS and row.get("objective")]
    for way in (PACKED, DECREASING):
        best = {_key(row): row["objective"] for row in ours}
        its = [row for row in rows if row["formulation"] == way and row.get("objective") and best.get(_key(row))]
        right.plot(
            [row["accelerators"] for row in its],
            [float(str(row["objective"])) / float(str(best[_key(row)])) for row in its],
            "o",
            label=way,
            alpha=0.6,
        )
    right.axhline(1, color="grey", linewidth=0.8)
    right.set(xscale="log", xlabel="accelerators", ylabel="cost as a multiple of placewright's")
    right.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return row["accelerators"], row["occupied"], row["fill"], row["seed"]


if __name__ == "__main__":
    Study("place_scale", measure, draw).main()
