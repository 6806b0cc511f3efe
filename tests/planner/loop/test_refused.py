"""Plans that the framework refuses in the file: no answer while there is another, and no proof beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import placewright as pw
from placewright.models.answer import Answer, Validator
from placewright.models.findings.finding import Finding, error
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.solver.searching.search import solve

FILE = """cluster: 1x6xH100
components:
  rollout: {accelerators: 4, seconds: {4: 120}}
  ref: {accelerators: 2-6, seconds: {2: 40, 6: 20}}
  actor: {accelerators: 1-6, seconds: {4: 100, 6: 80}}
plan: {workflow: rollout -> ref -> actor, nested: NESTED}
"""


def problem(folder: Path, nested: str = "true") -> Problem:
    (folder / "job.yaml").write_text(FILE.replace("NESTED", nested))
    found = pw.load(folder / "job.yaml").problem
    assert found is not None
    return found


def answered(question: Problem, refuses: Validator | None = None) -> Answer:
    kept = {} if refuses is None else {"refuses": refuses}
    return Solver(solve, 10.0, **kept)(question)


def seconds(answer: Answer) -> float:
    assert answer.planned is not None
    assert answer.plan is not None
    return answer.planned.best.nanoseconds / 1e9


def larger(than: int) -> Validator:
    """Refuses an actor on more accelerators."""

    def refuses(problem: Problem, plan: Plan) -> Sequence[Finding]:
        return (error("PW217", "actor", "too large", help=""),) if plan.assignment.amount("actor") > than else ()

    return refuses


def test_the_best_that_is_not_refused_is_the_answer_and_is_not_proved(tmp_path: Path) -> None:
    free = answered(problem(tmp_path))
    assert seconds(free) == 120 + 20 + 80
    assert free.planned is not None
    assert free.planned.proved
    found = answered(problem(tmp_path), larger(4))
    assert seconds(found) == 120 + 20 + 100
    assert found.planned is not None
    assert not found.planned.proved
    assert found.planned.bound == free.planned.best.nanoseconds
    assert "refuses" in found.planned.unplaceable[0].reason[0].message


def test_where_nothing_else_is_found_that_which_is_refused_is_the_answer_and_is_not_proved(tmp_path: Path) -> None:
    found = answered(problem(tmp_path, "false"), larger(0))
    assert found.planned is not None
    assert not found.planned.proved
    assert found.plan is not None
    assert found.plan.status == "feasible"
