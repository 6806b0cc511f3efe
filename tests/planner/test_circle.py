"""Tasks that wait for each other in a circle count as one: none of them is cut off from the others."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.planning.planned import PlanningResult
from placewright.planner.check import faults
from placewright.planner.costs import cost_model

APART = """
  env: {accelerators: 4, seconds: 60, disjoint_from: [rollout, value]}
  rollout: {accelerators: 4, seconds: 50, disjoint_from: value}
  value: {accelerators: 4, seconds: 20}
"""


def planned(folder: Path, components: str, workflow: str) -> PlanningResult:
    file = folder / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:{components}plan: {{workflow: {workflow}, batches: 10}}\n", encoding="utf-8")
    found = pw.solve(file).planned
    assert found is not None
    return found


def edges(found: PlanningResult) -> set[tuple[str, str, bool]]:
    name = [task.component for task in found.question.tasks]
    return {(name[edge.earlier], name[edge.later], edge.whole) for edge in found.question.flow.edges}


def test_a_circle_is_a_chain_in_the_written_order_that_is_entered_first_and_left_last(tmp_path: Path) -> None:
    more = APART + "  data: {accelerators: 1, seconds: 1}\n  actor: {accelerators: 1, seconds: 1}\n"
    found = planned(tmp_path, more, "[env -> value -> rollout -> env, data -> value, env => actor]")
    assert edges(found) == {("data", "env", False), ("env", "rollout", False), ("rollout", "value", False), ("value", "actor", True)}
    (its,) = found.question.flow.rounds
    assert {found.question.tasks[task].component for task in its} == {"env", "rollout", "value"}


def test_without_a_circle_everything_is_as_it_is_written(tmp_path: Path) -> None:
    found = planned(tmp_path, APART, "[env -> value, env => rollout -> value]")
    assert (
        edges(found) == {("env", "value", False), ("env", "rollout", True), ("rollout", "value", False)} and not found.question.flow.rounds
    )


def test_on_accelerators_of_their_own_they_run_at_the_same_time(tmp_path: Path) -> None:
    """The first of ten batches through all of them, 6 + 5 + 2, then nine of the slowest."""
    found = planned(tmp_path, APART, "[env -> rollout -> value -> env]")
    assert set(found.best.design.segments) == {0}
    assert found.best.nanoseconds == (13 + 9 * 6) * 10**9


def test_where_some_share_accelerators_all_of_them_take_turns(tmp_path: Path) -> None:
    """By the chain alone `value` would work beside `rollout`, while the simulator that waits for it had long ended."""
    shared = (
        "\n  env: {accelerators: 4, seconds: 60, colocate_with: rollout}\n  rollout: {accelerators: 4, seconds: 50, disjoint_from: value}\n"
    )
    shared += "  value: {accelerators: 4, seconds: 20}\n"
    found = planned(tmp_path, shared, "[env -> rollout -> value -> env]")
    assert sorted(found.best.design.segments) == [0, 1, 2]
    assert found.best.nanoseconds == 130 * 10**9
    chain = planned(tmp_path, shared, "[env -> rollout -> value]")
    assert chain.best.nanoseconds < found.best.nanoseconds
    said = list(faults(found.question, cost_model("stream"), chain.best.design))
    assert said == ["env, rollout, value wait for each other and some share accelerators, so that no two of them run at the same time"]


def test_a_cost_model_that_looks_at_no_order_has_no_circles(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        f"cluster: 2x8xH100\ncomponents:{APART}plan: {{cost_model: steady, workflow: env -> rollout -> env}}\n", encoding="utf-8"
    )
    found = pw.solve(file).planned
    assert found is not None and not found.question.flow.rounds
