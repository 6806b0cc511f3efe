"""Jobs of replicas that must not leave their leaf group, on clusters whose leaf groups are irregular: who finds a place for all of it?

Two shapes that people run: 64 hosts of 8 accelerators in 15 leaf groups of 1 to 11 hosts, and 33 racks of 18 hosts of 4 in one
NVLink domain each. A job asks for replicas of several numbers of hosts, together for a share of the cluster. One row for each job
and way: `placed` says whether all of it found a place, "proved" that there is none, `crossing` how often a component goes on in
another leaf group, where less is better. Packing in the written order and first fit decreasing stop at the first that does not fit.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Callable

from placewright.models.component import REPLICA, Component, Keep, Parallel
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.problem import Problem
from placewright.solver.searching.search import solve
from placing.counts import Counts, counts_of, faults, price
from placing.peers.in_order import first_fit_decreasing, packed
from study import Rows, Study, plotting

LEAVES = (1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 6, 6, 6, 8, 11)
"""Hosts of the leaf groups of the first shape."""
SHAPES: dict[str, tuple[tuple[int, ...], int, str, tuple[tuple[str, int], ...]]] = {
    "64 hosts in 15 leaf groups": (LEAVES, 8, "H100", (("actor", 5), ("rollout", 3), ("critic", 2), ("reward", 1))),
    "33 racks of 18 hosts": ((18,) * 33, 4, "GB200", (("actor", 16), ("rollout", 5), ("critic", 4), ("reward", 1))),
}
"""Name -> (hosts of each leaf group, accelerators of a host, their model, component -> hosts of one of its replicas)."""
SHARES = (0.45, 0.35, 0.15, 0.05)
GIB = 1024


def job(shape: str, fill: float, seed: int) -> Problem:
    """A job that asks for about this share of the cluster, a replica more or less of each component by the seed."""
    leaves, each, model, parts = SHAPES[shape]
    source, nodes = random.Random(seed), list[Node]()
    for number, hosts in enumerate(leaves):
        for _ in range(hosts):
            place = {"rack": f"leaf-{number}", "nvlink_domain": f"leaf-{number}"} if each == 4 else {"rack": f"leaf-{number}"}
            nodes.append(Node(len(nodes), f"host-{len(nodes)}", accelerators(each, model), topology=place))
    left, components = int(fill * len(nodes)), list[Component]()
    for (name, hosts), share in zip(parts, SHARES):
        count = max(1, int(fill * len(nodes) * share / hosts) + source.choice((-1, 0, 0, 1)))
        count = left // hosts if hosts == 1 else min(count, left // hosts)
        left -= count * hosts
        keep = (Keep(REPLICA, "rack"),) if hosts > 1 else ()
        if count:
            amount = count * hosts * each
            components.append(Component(name, least=amount, most=amount, parallel=Parallel(each, hosts), memory=GIB, keep=keep, traffic=1))
    return Problem(Cluster(tuple(nodes)), Job(tuple(components)))


def measure(full: bool) -> Rows:
    rows: Rows = []
    for shape in SHAPES:
        for fill in (0.8, 0.9, 0.95, 1.0) if full else (0.95,):
            for seed in range(1, 11 if full else 2):
                problem = job(shape, fill, seed)
                for way, place in WAYS.items():
                    began = time.process_time()
                    verdict, counts = place(problem)
                    seconds = time.process_time() - began
                    if counts is not None and (wrong := list(faults(problem, counts))):
                        raise SystemExit(f"{way}: {wrong[0]}")
                    crossing: object = "" if counts is None else price(problem, counts)
                    rows.append(
                        {
                            "shape": shape,
                            "fill": fill,
                            "seed": seed,
                            "way": way,
                            "placed": verdict,
                            "crossing": crossing,
                            "seconds": round(seconds, 4),
                        }
                    )
    return rows


def _ours(problem: Problem) -> tuple[str, Counts | None]:
    answer = solve(problem)
    if answer.plan is None:
        return "proved that nothing fits" if answer.verdict == "impossible" else answer.verdict, None
    return "yes" if answer.verdict == "optimal" else "yes, with a gap", counts_of(problem, answer.plan.assignment)


def _simple(place: Callable[[Problem], Counts | None]) -> Callable[[Problem], tuple[str, Counts | None]]:
    def placed(problem: Problem) -> tuple[str, Counts | None]:
        counts = place(problem)
        return "no" if counts is None else "yes", counts

    return placed


WAYS: dict[str, Callable[[Problem], tuple[str, Counts | None]]] = {
    "placewright": _ours,
    "packed in order": _simple(packed),
    "first fit decreasing": _simple(first_fit_decreasing),
}


def draw(rows: Rows, path: Path) -> None:
    """How many of the jobs each way places, by how full the cluster gets; a bar for each shape."""
    pyplot = plotting()
    figure, both = pyplot.subplots(1, len(SHAPES), figsize=(9, 3.6), sharey=True)
    for axes, shape in zip(both, SHAPES):
        fills = sorted({str(row["fill"]) for row in rows})
        for offset, way in enumerate(WAYS):
            its = [row for row in rows if row["shape"] == shape and row["way"] == way]
            placed = [sum(str(row["fill"]) == fill and str(row["placed"]).startswith("yes") for row in its) for fill in fills]
            axes.bar([position + 0.27 * offset for position in range(len(fills))], placed, 0.25, label=way)
        axes.set(
            title=shape, xlabel="share of the cluster that is asked for", xticks=[p + 0.27 for p in range(len(fills))], xticklabels=fills
        )
    both[0].set(ylabel="jobs placed whole")
    both[0].legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("fragmentation", measure, draw).main()
