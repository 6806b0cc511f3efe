"""The bill of memory says of every design what the search goes by: block by block, part by part."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import DECLARED, ESTIMATED, KEPT, RESIDENT, SILENT, WORKS
from placewright.models.planning.design import Design
from placewright.models.planning.problem import PlanningProblem
from placewright.models.problem import Problem
from placewright.planner.bills import bill, bills_of_unplanned
from placewright.planner.check import memory
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.search.search import search

DECLARES = """
cluster: 1x4xH100
components:
  rollout: {accelerators: 1-4, seconds: {4: 120}, phase: generate, memory: 50GiB, offloaded: 3GiB}
  reference: {accelerators: 1-4, seconds: {4: 10}, memory: 10GiB}
  actor: {accelerators: 1-4, seconds: {infer: {4: 5}, train: {4: 90}}, memory: 60GiB, offloaded: 20GiB}
plan: {workflow: rollout -> actor.infer => actor.train, nested: true}
"""
ESTIMATES = """
cluster: 1x4xH100
components:
  rollout: {accelerators: 1-4, seconds: {4: 120}, estimate: {model: Qwen/Qwen2.5-7B, sequence: 8192, sequences: 32, offload: true}}
  reference: {accelerators: 1-4, seconds: {4: 10}, estimate: {model: Qwen/Qwen2.5-7B, sequence: 8192}}
  actor: {accelerators: 1-4, seconds: {4: 90}, estimate: {model: Qwen/Qwen2.5-7B, sharding: fsdp, sequence: 8192}}
plan: {workflow: rollout -> reference => actor, nested: true}
"""


STEADY = """
cluster: 1x4xH100
components:
  rollout: {accelerators: 1-4, seconds: {4: 120}, phase: generate, memory: 60GiB, offloaded: 3GiB}
  reference: {accelerators: 1-4, seconds: {4: 10}, phase: infer, memory: 6GiB}
  actor: {accelerators: 1-4, seconds: {infer: {4: 5}, train: {4: 90}}, memory: 70GiB, offloaded: 4GiB}
plan: {workflow: rollout -> actor.infer => actor.train, cost_model: steady}
"""


def found(text: str, folder: Path) -> tuple[Problem, PlanningProblem, list[Design]]:
    """The problem, its question and the best designs of many structures."""
    (folder / "job.yaml").write_text(text)
    problem = pw.load(folder / "job.yaml").problem
    assert problem is not None and problem.job.planning.workload is not None
    question = planning_problem(problem)
    searched = search(question, cost_model(problem.job.planning.workload.model), count=40)
    return problem, question, [each.design for each in searched.found]


@pytest.mark.parametrize("text", [DECLARES, ESTIMATES, STEADY])
def test_the_worst_moment_is_what_the_search_goes_by(text: str, tmp_path: Path) -> None:
    problem, question, designs = found(text, tmp_path)
    shared = 0
    for design in designs:
        for block, its in zip(design.blocks, bill(problem, question, design)):
            # Rounded up one by one: each amount may be rounded up once more than their sum.
            worst = max(moment.demanded for moment in its.moments)
            assert 0 <= worst - memory(question, design, block) <= len(block.components)
            assert its.block == block and its.capacity == 80 * 1024 and not its.tight
            shared += len(block.components) > 1
    assert len(designs) >= 5 and shared > 3


def test_those_that_take_turns_in_one_part_are_not_there_together(tmp_path: Path) -> None:
    problem, question, designs = found(STEADY, tmp_path)
    alone = next(design for design in designs if len(design.blocks) == 1)
    (its,) = bill(problem, question, alone)
    assert [(each.component, each.state) for each in its.peak.entries] == [("rollout", KEPT), ("reference", WORKS), ("actor", WORKS)]
    assert its.peak.mebibytes == (3 + 6 + 70) * 1024


def test_who_works_is_there_and_who_waits_keeps_what_stays(tmp_path: Path) -> None:
    problem, question, designs = found(DECLARES, tmp_path)
    together = next(design for design in designs if len(design.blocks) == 1)
    (only,) = bill(problem, question, together)
    states = [{entry.component: (entry.state, entry.mebibytes) for entry in moment.entries} for moment in only.moments]
    resident = (RESIDENT, 10 * 1024)
    assert any(each["rollout"] == (WORKS, 50 * 1024) and each["actor"] == (KEPT, 20 * 1024) for each in states)
    assert any(each["rollout"] == (KEPT, 3 * 1024) and each["actor"] == (WORKS, 60 * 1024) for each in states)
    assert all(each["reference"] in (resident, (WORKS, 10 * 1024)) for each in states)
    assert {entry.origin for moment in only.moments for entry in moment.entries} == {DECLARED}
    assert only.peak.mebibytes == max(moment.mebibytes for moment in only.moments) == (50 + 20 + 10) * 1024


def test_an_estimate_is_there_term_by_term(tmp_path: Path) -> None:
    problem, question, designs = found(ESTIMATES, tmp_path)
    together = next(design for design in designs if len(design.blocks) == 1)
    (only,) = bill(problem, question, together)
    for moment in only.moments:
        for entry in moment.entries:
            assert entry.origin == ESTIMATED
            size = sum(term.size for term in entry.terms)
            assert entry.mebibytes == -(-size // (1 << 20))
            names = {term.name for term in entry.terms}
            if entry.component == "actor":
                assert ("logits" in names) is (entry.state == WORKS)
                assert {"weights", "optimizer"} <= names
            if entry.component == "rollout":
                assert (entry.mebibytes < 2048) is (entry.state == KEPT)  # context, buffers and graphs stay


def test_what_nobody_says_is_not_known(tmp_path: Path) -> None:
    problem, question, designs = found(DECLARES.replace("memory: 10GiB", "samples: 4"), tmp_path)
    entries = [entry for its in bill(problem, question, designs[0]) for moment in its.moments for entry in moment.entries]
    assert {entry.origin for entry in entries if entry.component == "reference"} == {SILENT}


GIVEN = """
cluster: {nodes: [{accelerators: {count: 4, model: H100, memory: 80GiB}}, {accelerators: {count: 4, model: L40, memory: 48GiB}}]}
components:
  actor: {accelerators: 1-4, seconds: {4: 90}, phase: train, memory: 60GiB, offloaded: 5GiB, accelerator: H100}
  judge: {placement: 4-6, memory: 20GiB, offloaded: 1GiB, phase: infer}
  coach: {placement: 6-7, memory: 10GiB, offloaded: 2GiB, phase: train}
"""


def test_what_is_not_planned_is_billed_where_it_is(tmp_path: Path) -> None:
    problem, question, designs = found(GIVEN, tmp_path)
    bills = bills_of_unplanned(problem, question, designs[0])
    assert {(its.block.components, its.block.accelerators, its.capacity) for its in bills} == {
        (("judge",), 2, 48 * 1024), (("judge", "coach"), 1, 48 * 1024), (("coach",), 1, 48 * 1024),
    }  # fmt: skip
    judge, both, coach = (
        next(its for its in bills if its.block.components == names) for names in (("judge",), ("judge", "coach"), ("coach",))
    )
    # The coach works where the actor trains; nobody says when anything is inferred.
    assert [(moment.segment, moment.phase, moment.mebibytes // 1024) for moment in judge.moments] == [(0, "", 1), (None, "infer", 20)]
    assert [(moment.segment, moment.phase, moment.mebibytes // 1024) for moment in both.moments] == [(0, "", 11), (None, "infer", 22)]
    assert [(moment.segment, moment.mebibytes // 1024) for moment in coach.moments] == [(0, 10)]
