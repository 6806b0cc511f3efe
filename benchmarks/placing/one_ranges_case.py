"""One job of ranges solved in a process of its own: a row of figures as JSON on the last line of its output.

Seconds are of CPU, from the Problem on, after all imports; `seconds_build` is the solver's model alone, whether it was needed or not.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from placing.one_case import Row, peak_mb
from placing.ranges import instance


@dataclass(frozen=True)
class Case:
    """A job on so many accelerators, of which other jobs hold something on a share of the nodes; `limit` in seconds."""

    job: str
    accelerators: int
    occupied: float
    seed: int
    limit: float


def row(case: Case) -> Row:
    """The figures of a case."""
    from placewright.solver.compile import compile
    from placewright.solver.searching.progress import Incumbents
    from placewright.solver.searching.search import solve

    problem = instance(case.job, case.accelerators, case.occupied, case.seed)
    began = time.process_time()
    compile(problem)
    build = time.process_time() - began
    seen: list[float] = []
    began = time.process_time()

    def note(progress: Incumbents) -> None:
        if progress.objective is not None:
            seen.append(time.process_time() - began)

    answer = solve(problem, limit=case.limit, on_progress=note)
    seconds, plan = time.process_time() - began, answer.plan
    proved = answer.verdict in ("optimal", "impossible")
    figures = {
        "seconds_build": round(build, 4),
        "seconds_first": round(seen[0], 4) if seen else "",
        "seconds_proof": round(seconds, 4) if proved else "",
        "seconds": round(seconds, 4),
        "status": answer.verdict,
        "how": answer.how,
        "objective": " ".join(str(term.value) for term in plan.terms) if plan else "",
        "bound": " ".join(str(term.bound) for term in plan.terms) if plan else "",
        "gap": round(plan.gap, 5) if plan else "",
        "peak_mb": peak_mb(),
    }
    return {**{key: value for key, value in asdict(case).items() if key != "limit"}, **figures}


if __name__ == "__main__":
    print(json.dumps(row(Case(**json.loads(sys.argv[1])))))
