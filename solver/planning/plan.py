"""Counts, degrees and sharing are chosen, then placed; what cannot be placed is ruled out, until the best that can is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, error
from ...models.planning.design import Design
from ...models.planning.planned import Planned, Priced, Unplaceable
from ...models.planning.question import Question
from ...models.planning.workload import Workload
from ...models.problem import Problem
from .asked import asked
from .costs import cost_model
from .costs.cost_model import CostModel, iteration, segment_times
from .placing import placing
from .search import search

Solve = Callable[[Problem], Answer]
ROUNDS = 12
"""Designs that are placed at most."""
ALTERNATIVES = 3


def plan(problem: Problem, workload: Workload, solve: Solve, limit: float = 10.0, seed: int = 1) -> Answer:
    """The best design that can be placed, with its placement.

    `solve` places a problem whose counts are decided. The proof covers both: every design that would be better was ruled out by a
    search over designs, or by a proof that it cannot be placed.
    """
    question, model = asked(problem, workload), cost_model(workload.model)
    unplaceable: list[Unplaceable] = []
    unsure = False
    for _ in range(ROUNDS):
        searched = search(question, model, limit, seed, ALTERNATIVES + 1, [each.priced.design for each in unplaceable])
        if searched.best is None:
            return _nothing(searched.proved and not unsure, unplaceable)
        best = searched.best
        answer = solve(placing(problem, question, best.design))
        if answer.plan is not None:
            others = tuple(_priced(question, model, each.design) for each in searched.found[1:])
            proved = searched.proved and not unsure
            bound = searched.bound if searched.bound is not None else best.price[0]
            planned = Planned(
                question, model.name, _priced(question, model, best.design), bound, proved, others, tuple(unplaceable), searched.structures
            )
            return replace(answer, planned=planned)
        unsure = unsure or answer.verdict != IMPOSSIBLE
        unplaceable.append(Unplaceable(_priced(question, model, best.design), answer.findings))
    return Answer(UNDECIDED, findings=(_too_many(len(unplaceable)),), how="search")


def _priced(question: Question, model: CostModel, design: Design) -> Priced:
    return Priced(design, iteration(model, question, design), tuple(segment_times(model, question, design)))


def _nothing(proved: bool, unplaceable: list[Unplaceable]) -> Answer:
    findings: tuple[Finding, ...] = unplaceable[0].reason if unplaceable else ()
    message = "no counts and degrees fit together" + (" that can be placed" if unplaceable else "")
    found = error("PW601" if proved else "PW602", "", message, help="leave more open, or give it longer")
    return Answer(IMPOSSIBLE if proved else UNDECIDED, findings=(found, *findings), how="search")


def _too_many(count: int) -> Finding:
    message = f"undecided: the {count} best designs cannot be placed"
    return error("PW602", "", message, help="leave more open: counts, degrees, or who shares with whom")
