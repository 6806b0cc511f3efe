"""One job planned in both ways, in a process of its own: a row of figures as JSON on the last line of its output.

Seconds are of CPU, from the question to the answer, of placewright the import of its solver too where it needs it.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hybrid.enumeration import Enumeration
from hybrid.models import question

SECOND = 10**9


@dataclass(frozen=True)
class Case:
    """A job, and for how many CPU seconds the enumeration may run."""

    models: int
    accelerators: int
    unit: int
    seed: int
    limit: float


def row(case: Case) -> dict[str, object]:
    """The figures of a case."""
    from placewright.planner.check import faults, price
    from placewright.planner.costs import cost_model
    from placewright.planner.search.search import search

    asked, model = question(case.models, case.accelerators, case.unit, case.seed), cost_model("stages")
    began = time.process_time()
    found = search(asked, model, limit=60.0)
    seconds = time.process_time() - began
    if found.best is None:
        raise SystemExit(f"{case}: no plan was found")
    design = found.best.design
    if wrong := list(faults(asked, model, design)):
        raise SystemExit(f"{case}: {wrong[0]}")
    cost = price(asked, model, design)[0]
    peer = Enumeration(asked, case.unit, case.limit).run()
    if peer.cost is not None and found.proved and (peer.cost < cost or (peer.finished and peer.cost != cost)):
        raise SystemExit(f"{case}: the enumeration has {peer.cost}, the search proved {cost}")
    told = {key: value for key, value in asdict(case).items() if key != "limit"}
    sets = " | ".join(f"{' '.join(block.components)}: {block.accelerators}" for block in design.blocks)
    return {
        **told,
        "cost": cost / SECOND,
        "bound": None if found.bound is None else found.bound / SECOND,
        "proved": found.proved,
        "seconds": round(seconds, 4),
        "enumeration_cost": None if peer.cost is None else peer.cost / SECOND,
        "enumeration_seconds": round(peer.seconds, 4),
        "cut": not peer.finished,
        "plans": peer.plans,
        "all_plans": peer.all_plans,
        "sets": sets,
    }


if __name__ == "__main__":
    print(json.dumps(row(Case(**json.loads(sys.argv[1])))))
