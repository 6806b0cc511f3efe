"""What a changed question comes to, as far as few rounds of searching and placing show it."""

from __future__ import annotations

from ....models.answer import Solve
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ..counting import silent
from ..searching.sizes.settling import Settle
from .rounds import ALL_PROBES, ROUNDS, Refused, Rounds


def trial(
    problem: Problem, workload: Workload, solve: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool,
    refused: Refused, rounds: int, probes: int = ALL_PROBES,
) -> Rounds:  # fmt: skip
    """So many rounds, and at most so many `probes`; the other options are those of plan.py. Nobody is told how it goes on meanwhile."""
    run = Rounds(problem, workload, solve, limit, seed, settle, answer_interrupted, silent, refused, number=ROUNDS - rounds, probes=probes)
    while run.goes_on():
        run.place()
    return run
