"""One question solved again and again in this process: what was answered, each answer once, as JSON on the last line of its output."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from placewright.models.answer import Answer
from placewright.solver.sandbox.solve import solve as in_sandbox
from placewright.solver.searching.search import solve

from repeating.questions import question


def fingerprint(answer: Answer) -> str:
    """All that an answer says but for the time it took: the digest of the plan, its objective and bounds, or every word of why not."""
    plan = answer.plan
    said = [answer.verdict, answer.how, repr(answer.findings), repr(answer.unchecked)]
    if plan:
        said += [plan.digest, repr(plan.terms), str(plan.bound), str(plan.seed)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:12]


def main(name: str, limit: float, runs: int, own_process: int) -> None:
    """Solves it `runs` times here, and `own_process` times in a process of its own."""
    problem = question(name)
    began = time.process_time()
    answers = [solve(question(name), limit) for _ in range(runs)]
    seconds = (time.process_time() - began) / runs
    first = answers[0]
    answers += [in_sandbox(problem, limit) for _ in range(own_process)]
    plan = first.plan
    found = {
        "answers": sorted({fingerprint(answer) for answer in answers}),
        "verdict": first.verdict,
        "how": first.how,
        "digest": plan.digest[7:19] if plan else "",
        "gap": round(plan.gap, 6) if plan else "",
        "cpu_seconds": round(seconds, 4),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
