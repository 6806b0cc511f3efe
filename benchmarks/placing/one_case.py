"""One problem of the family placed in one way, in a process of its own: a row of figures as JSON on the last line of its output.

Seconds are of CPU, from the Problem to the verified answer. What is imported late is imported before: a small problem is solved first.
`peak_mb` is the most memory that the process had.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from placewright.models.problem import Problem

OURS, PACKED, DECREASING, NAIVE, HIGHS = WAYS = ("placewright", "packed in order", "first fit decreasing", "naive CP-SAT", "HiGHS")
Row = dict[str, object]


@dataclass(frozen=True)
class Case:
    """A problem of the family and how it is placed; `limit` in seconds."""

    accelerators: int
    occupied: float
    fill: float
    seed: int
    way: str
    limit: float


def row(case: Case) -> Row:
    """The figures of a case."""
    from placing.family import instance

    problem = instance(case.accelerators, case.seed, case.occupied, case.fill)
    its = {OURS: _ours, NAIVE: _naive, HIGHS: _highs}.get(case.way, _in_order)(problem, case)
    told = {key: value for key, value in asdict(case).items() if key not in ("limit", "way")}
    return {**told, "formulation": case.way, **its, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """The most memory that this process had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    else:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(kilobytes / 1024, 1)


def _ours(problem: Problem, case: Case) -> Row:
    from placewright.solver.searching.progress import Incumbents
    from placewright.solver.searching.search import solve

    from placing.counts import counts_of, faults, price
    from placing.family import instance

    solve(instance(128, 2))
    seen: list[tuple[float, int]] = []
    began = time.process_time()

    def note(progress: Incumbents) -> None:
        if progress.objective is not None:
            seen.append((time.process_time() - began, progress.objective))

    answer = solve(problem, limit=case.limit, on_progress=note)
    seconds = time.process_time() - began
    plan = answer.plan
    if plan is None:
        return {"status": answer.verdict, "seconds_proof": seconds if answer.verdict == "impossible" else ""}
    counts = counts_of(problem, plan.assignment)
    if wrong := list(faults(problem, counts)):
        raise SystemExit(wrong[0])
    # All MiB are one tier, the first; the later ones weigh together less than one of it.
    objective, bound = price(problem, counts), plan.bound // next(term.weight for term in plan.terms if "MiB" in term.name)
    first = next((at for at, _ in seen), seconds)
    near = next((at for at, its in seen if its <= plan.objective * 1.01), seconds)
    proof = seconds if plan.objective == plan.bound else ""
    gap = (objective - bound) / objective if objective else 0.0
    return _row(first, near, proof, objective, bound, gap, answer.verdict) | {"seconds": round(seconds, 4)}


def _in_order(problem: Problem, case: Case) -> Row:
    from placing.counts import price
    from placing.peers.in_order import first_fit_decreasing, packed

    began = time.process_time()
    counts = (packed if case.way == PACKED else first_fit_decreasing)(problem)
    seconds = time.process_time() - began
    found = (
        {"seconds_first": round(seconds, 4), "objective": price(problem, counts), "status": "feasible"} if counts else {"status": "none"}
    )
    return {**found, "seconds": round(seconds, 4)}


def _naive(problem: Problem, case: Case) -> Row:
    from placing.peers.naive import naive

    began = time.process_time()
    found = naive(problem, case.limit)
    seconds = time.process_time() - began
    if found.counts is None:
        return {"status": found.status, "seconds": round(seconds, 4)}
    proof = seconds if found.status == "optimal" else ""
    gap = (found.objective - found.bound) / found.objective if found.objective else 0.0
    return _row("", "", proof, found.objective, found.bound, gap, found.status) | {"seconds": round(seconds, 4)}


def _highs(problem: Problem, case: Case) -> Row:
    from placing.peers.highs import highs

    began = time.process_time()
    found = highs(problem, case.limit)
    seconds = time.process_time() - began
    if found.counts is None or found.status != "optimal":
        return {"status": found.status, "seconds": round(seconds, 4)}
    return _row("", "", seconds, found.objective, found.objective, 0.0, found.status) | {"seconds": round(seconds, 4)}


def _row(first: object, near: object, proof: object, objective: int, bound: int, gap: float, status: str) -> Row:
    rounded = [round(value, 4) if isinstance(value, float) else value for value in (first, near, proof)]
    names = ("seconds_first", "seconds_1pct", "seconds_proof")
    return {**dict(zip(names, rounded)), "objective": objective, "bound": bound, "gap": round(gap, 5), "status": status}


if __name__ == "__main__":
    print(json.dumps(row(Case(**json.loads(sys.argv[1])))))
