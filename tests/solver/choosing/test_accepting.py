"""Counts that the framework refuses are no answer of a placement without times, and the best of the others is."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Mapping, Sequence

import placewright as pw
import pytest
from placewright.models.answer import Answer, Validator
from placewright.models.findings.finding import Finding, Severity, error
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.solver.searching.search import solve

Accepts = Callable[[Mapping[str, int]], bool]
FILE = """cluster: 1x8
components:
  actor: {accelerators: 1-8}
  rollout: {accelerators: ROLLOUT}
"""
VERL = """python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo data.train_batch_size=96 trainer.nnodes=4 \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\
    actor_rollout_ref.actor.ppo_mini_batch_size=48 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 \\
    +placewright.components.actor.accelerators=COUNTS
"""


def problem(folder: Path, rollout: str) -> Problem:
    (folder / "job.yaml").write_text(FILE.replace("ROLLOUT", rollout))
    found = pw.load(folder / "job.yaml").problem
    assert found is not None
    return found


def only(accepts: Accepts, code: str = "PW401") -> Validator:
    """Refuses all other counts."""

    def refuses(problem: Problem, plan: Plan) -> Sequence[Finding]:
        return () if accepts(counts(plan)) else (error(code, "actor", "these counts", help="other ones"),)

    return refuses


def counts(plan: Plan | None) -> dict[str, int]:
    assert plan is not None
    return {name: plan.assignment.count_held(name) for name in plan.components}


def answered(question: Problem, refuses: Validator) -> Answer:
    return Solver(solve, 10.0, refuses=refuses)(question)


RULES: list[tuple[str, Accepts]] = [
    ("1-8", lambda counts: counts["actor"] % 3 == 0),
    ("1-8", lambda counts: counts["actor"] * 2 <= counts["rollout"]),
    ("1-8", lambda counts: counts["actor"] + counts["rollout"] < 6),
    ("2 or 4", lambda counts: counts["actor"] == counts["rollout"]),
]


@pytest.mark.parametrize(("rollout", "accepts"), RULES)
def test_the_best_accepted_counts_of_all_are_the_answer(tmp_path: Path, rollout: str, accepts: Accepts) -> None:
    allowed = (2, 4) if rollout == "2 or 4" else range(1, 9)
    every = [(a, b) for a in range(1, 9) for b in allowed if a + b <= 8 and accepts({"actor": a, "rollout": b})]
    question = problem(tmp_path, rollout if "or" not in rollout else "[2, 4]")
    answer = answered(question, only(accepts))
    found = counts(answer.plan)
    assert accepts(found)
    assert sum(found.values()) == max(map(sum, every))
    assert answer.verdict == "optimal"
    is_first = accepts(counts(solve(question).plan))
    refused = [(note.code, note.severity) for note in answer.findings if "splits" not in note.message]
    assert refused == [("PW401", Severity.NOTE)] * (not is_first)
    assert is_first or len(answer.findings) == 1


def test_nothing_is_proved_beside_ranks_that_are_refused(tmp_path: Path) -> None:
    answer = answered(problem(tmp_path, "2"), only(lambda counts: counts["actor"] < 6, "PW217"))
    assert (counts(answer.plan)["actor"], answer.verdict) == (5, "feasible")


@pytest.mark.parametrize(("code", "verdict"), [("PW401", "impossible"), ("PW217", "undecided")])
def test_if_all_counts_are_refused_the_reason_is_the_framework_s(tmp_path: Path, code: str, verdict: str) -> None:
    answer = answered(problem(tmp_path, "2"), only(lambda counts: False, code))
    assert (answer.verdict, answer.plan) == (verdict, None)
    assert f"the framework refuses actor on 6 and rollout on 2: these counts ({code})" in answer.findings[0].message
    assert answer.findings[0].help == "other ones"


def test_an_answer_that_cannot_be_written_is_one_only_without_another(tmp_path: Path) -> None:
    first = answered(problem(tmp_path, "2"), only(lambda counts: counts["actor"] == 3, "PW603"))
    assert counts(first.plan)["actor"] == 3
    none = answered(problem(tmp_path, "2"), only(lambda counts: False, "PW603"))
    assert (counts(none.plan)["actor"], none.verdict, none.findings) == (6, "optimal", ())


@pytest.mark.parametrize(("asked", "most"), [("1-32", 12), ("1-11", 6), ("[5, 6, 32]", 6)])
def test_proposed_counts_of_a_verl_script_verify(tmp_path: Path, asked: str, most: int) -> None:
    script = tmp_path / "run.sh"
    script.write_text(VERL.replace("COUNTS", f"'{asked}'"))
    answer = pw.solve(script, "4x8xH100", sandbox=False)
    assert (counts(answer.plan), answer.verdict) == ({"actor": most, "rollout": most}, "optimal")
    from placewright.planner.write_back import edits_of

    edits, errors = edits_of(pw.load(script, "4x8xH100"), answer)
    assert edits
    assert errors == ()


def test_counts_of_which_verl_refuses_all_are_impossible(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(VERL.replace("COUNTS", "25-32"))
    answer = pw.solve(script, "4x8xH100", sandbox=False)
    assert (answer.verdict, [finding.code for finding in answer.findings]) == ("impossible", ["PW601"])
    assert "do not divide among the 32 data parallel ranks (PW401)" in answer.findings[0].message
