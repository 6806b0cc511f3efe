"""One problem of the families placed in one way, in a process of its own: a row of figures as JSON on the last line of its output.

Seconds are of CPU, from the Problem to the answer; what is imported late counts. `open` is the number of the first tier that is not
proved, and `gap` how far its cost is from its bound, as a share of the cost.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from placing.ablation import ABLATIONS, WITHOUT, leave_out

if TYPE_CHECKING:
    from placewright.models.placements.plan import Plan
    from placewright.models.problem import Problem

OURS, GREEDY, CP_SAT, SCIP, HIGHS = WAYS = ("placewright", "greedy", "plain CP-SAT", "SCIP", "HiGHS")
Row = dict[str, object]


@dataclass(frozen=True)
class Case:
    """A problem of the families and how it is placed; `limit` in seconds."""

    kind: str
    accelerators: int
    seed: int
    way: str
    limit: float


def row(case: Case) -> Row:
    """The figures of a case; `skipped` says why there are none."""
    from placing.families import instance

    problem = instance(case.kind, case.accelerators, case.seed)
    began = time.process_time()
    try:
        its = {OURS: _ours, GREEDY: _greedy, **dict.fromkeys(ABLATIONS, _ours)}.get(case.way, _peer)(problem, case)
    except ImportError as reason:
        its = {"skipped": str(reason)}
    return {**asdict(case), "seconds": round(time.process_time() - began, 4), **its}


def _ours(problem: Problem, case: Case) -> Row:
    from placewright.solver.sandbox.child import lighten_imports
    from placewright.solver.searching.search import solve

    lighten_imports()
    if case.way in ABLATIONS:
        leave_out(case.way.removeprefix(WITHOUT))
    answer = solve(problem, limit=case.limit)
    return {"status": answer.verdict, "how": answer.how, **(_of_plan(answer.plan) if answer.plan else {})}


def _of_plan(plan: Plan) -> Row:
    from placing.peers.plain import tiers_of

    its = {term.tier: [each for each in plan.terms if each.tier == term.tier] for term in plan.terms}
    proved = plan.first_open[0][0].tier if plan.first_open[0] else len(its)
    values = [(sum(each.value for each in terms), sum(each.bound for each in terms)) for terms in its.values()]
    if proved < len(values):  # what is proved of the first open tier alone, its terms together
        terms, bound = plan.first_open
        weight = min(term.weight for term in terms)
        values[proved] = (values[proved][0], max(values[proved][1], min(values[proved][0] - 1, -(-bound // weight))))
    return tiers_of(values)


def _greedy(problem: Problem, case: Case) -> Row:
    from placewright.solver.greedy import greedy
    from placewright.solver.layout.layout import Layout
    from placewright.solver.searching.progress import silent
    from placewright.solver.searching.state import ChoiceState, Search

    layout = Layout(problem)
    standing = ChoiceState(layout, Search(problem, 1, silent))
    values = greedy(layout)
    if values is None or standing.offer(values, GREEDY) is None:
        return {"status": "none"}
    return {"status": "feasible", **_of_plan(standing.plan(standing.bound))}


def _peer(problem: Problem, case: Case) -> Row:
    from placing.peers import engines
    from placing.peers.plain import Plain, tiers_of

    engine = {CP_SAT: engines.cp_sat, SCIP: engines.scip, HIGHS: engines.highs}[case.way]
    rows = Plain(problem)
    found = engines.by_tiers(rows, engine, case.limit)
    missing: list[tuple[int, int | None]] = []
    status = "none" if not found else "feasible"
    if len(found) == len(rows.tiers) and all(value == bound for value, bound in found):
        status = "optimal"
    return {"status": status, **(tiers_of([*found, *missing]) if found else {})}


if __name__ == "__main__":
    print(json.dumps(row(Case(**json.loads(sys.argv[1])))))
