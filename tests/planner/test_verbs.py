"""The verbs about a plan whose counts were chosen by time: each asks about the design that was chosen, or chooses anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.planner.placing import decide
from placewright.solver.pricing.result import BETTER, WORSE

FILE = """cluster: 2x8xH100
components:
  rollout: {accelerators: 1-16, seconds: {8: 120, 16: 66}, memory: 60GiB, phase: generate}
  inference: {accelerators: 1-16, seconds: {8: 30}, memory: 20GiB, phase: infer}
  actor: {accelerators: 2-16, seconds: {8: 96}, parallel: {tp: 2}, memory: 70GiB, phase: train}
plan: {workflow: rollout -> inference => actor, batches: 32}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(FILE)
    return path


def seconds(answer: Answer) -> float:
    assert answer.planned is not None
    return answer.planned.best.nanoseconds / 1e9


def solved(file: Path, **options: Any) -> Answer:
    answer = pw.solve(file, sandbox=False, **options)
    assert answer.plan is not None
    return answer


def test_whatif_chooses_anew_and_compares_times(file: Path) -> None:
    found = pw.whatif(file, nodes=["+1x8xH100"], lose=["node-1"], sandbox=False)
    assert seconds(found.before) == 66 + 15 + 48
    assert [each.effect for each in found.after] == [BETTER, WORSE]
    more, fewer = (each.answer for each in found.after)
    assert seconds(fewer) == 120 + 30 + 96
    assert seconds(more) < 66 + 15 + 48


def test_replan_chooses_anew_for_the_nodes_that_are_left_and_moves_nothing_there(file: Path) -> None:
    before = solved(file).plan
    assert before is not None
    answer, moved = pw.replan(file, before, lose=["node-1"], trade=True, sandbox=False)
    assert seconds(answer) == 120 + 30 + 96
    assert moved is not None
    assert (moved.lost, moved.moved, moved.kept, moved.proved) == (4, 0, 4, True)


def test_alternatives_are_other_placements_of_what_was_chosen(file: Path) -> None:
    found = pw.alternatives(file, 3, sandbox=False)
    assert found.complete
    assert len(found.found) == 1  # all 16 are used: they lie nowhere else
    file.write_text(FILE.replace("batches: 32", "budget: {accelerators: 12}"))
    limited = pw.alternatives(file, 3, sandbox=False)
    amounts = {each.plan.assignment.amount("rollout") for each in limited.found}
    assert amounts == {12}


def test_the_question_of_the_placement_has_what_was_chosen_and_its_own_answer(file: Path) -> None:
    answer = solved(file)
    problem = pw.load(file).problem
    assert problem is not None
    placed = decide(problem, answer)
    assert placed.job.planning.workload is None
    assert {each.name: (each.least, each.most) for each in placed.components} == {
        "rollout": (16, 16), "inference": (16, 16), "actor": (16, 16),
    }  # fmt: skip
    assert {frozenset(each.components) for each in placed.job.relations} == {
        frozenset(pair) for pair in (("rollout", "inference"), ("rollout", "actor"), ("inference", "actor"))
    }
    again = pw.solve(placed, sandbox=False)
    assert answer.plan is not None
    assert again.plan is not None
    assert again.plan.assignment == answer.plan.assignment


def test_limits_on_terms_hold_for_the_placement(file: Path) -> None:
    text = FILE.replace("2x8xH100\n", "\n  nodes:\n    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: a}}\n"
                        "    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: b}}\n")  # fmt: skip
    text = text.replace("inference: {", "inference: {colocate_with: rollout, ").replace("actor: {", "actor: {colocate_with: rollout, ")
    file.write_text(
        text.replace("rollout: {accelerators: 1-16, ", "rollout: {accelerators: 1-32, traffic: 100MiB, ").replace("-16,", "-32,")
    )
    free = solved(file)
    within = solved(file, at_most={"MiB of collectives across racks": 0})
    assert free.planned is not None
    assert within.planned is not None
    assert free.planned.best.design.options["rollout"].amount > 16
    assert within.planned.best.design.options["rollout"].amount <= 16
    assert within.planned.proved
    assert [each.priced.design for each in within.planned.unplaceable]


def test_where_traffic_counts_placements_are_compared_by_it(file: Path) -> None:
    """Two components of a node each: the weights that cross nodes are the same wherever they lie."""
    file.write_text(
        "cluster: 2x8xH100\ncomponents:\n"
        "  rollout: {accelerators: 8, parallel: {tp: 8}, seconds: 40}\n"
        "  actor: {accelerators: 8, parallel: {tp: 8}, seconds: 40}\n"
        "links: [{from: actor, to: rollout, weights: 100MiB}]\n"
        "plan: {workflow: rollout -> actor, batches: 8, bandwidth: {node: 100MiB}}\n"
    )
    before = solved(file)
    assert before.plan is not None
    assert {term.name: term.value for term in before.plan.terms}["MiB of weights across nodes"] == 100
    found = pw.alternatives(file, 2, sandbox=False)
    assert [(len(found.found), found.complete)] == [(1, True)]
    _, moved = pw.replan(file, before.plan, trade=True, sandbox=False)
    assert moved is not None
    assert moved.trade is None
    assert moved.no_trade
