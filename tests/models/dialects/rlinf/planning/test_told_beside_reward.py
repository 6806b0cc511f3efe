"""Reward on some accelerators of others, or by itself."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.answer import Answer
from placewright.models.dialects import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND
from placewright.models.text.source import Source
from placewright.planner.accounting import account_of

FILE = """
cluster: {{num_nodes: {nodes}, component_placement: {{actor: "{actor}", rollout: "{rollout}", reward: "{reward}"}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: false}}
data: {{rollout_batch_size: 2}}
rollout: {{tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: {tp}}}}}
placewright:
  components:
    actor: {{scaling: table, seconds: {{{trains}}}{memory}}}
    rollout: {{scaling: table, seconds: {{{generates}}}{memory}}}
"""


def planned(
    cluster: str, ranks: tuple[str, str, str], tp: int, trains: str, generates: str, more: str = "", memory: str = ""
) -> tuple[Answer, PlanningResult, list[str]]:
    """The plan, and what it takes for granted."""
    nodes = cluster.count("+") + 1
    actor, rollout, reward = ranks
    text = (
        FILE.format(nodes=nodes, actor=actor, rollout=rollout, reward=reward, tp=tp, trains=trains, generates=generates, memory=memory)
        + more
    )
    reading = load.read(Source("run.yaml", text), read_shorthand(cluster), "rlinf", "training")
    answer = solve(reading, sandbox=False)
    problem = reading.to_solve.problem
    assert answer.planned is not None and problem is not None
    return answer, answer.planned, list(account_of(problem, answer.planned).assumed)


def test_reward_has_only_some_accelerators_of_groups_over_nodes() -> None:
    """Own ranks over nodes, which verify accepts, are as good as the plan of a spanning scope."""
    times = "2: 172, 4: 178", "2: 261, 4: 115"
    _, found, _ = planned("1x3+1x1", ("0-1", "0-1", "0-1"), 2, *times)
    assert found.best.nanoseconds == 347 * SECOND and found.question.scope.left_out == ("spanning",)
    _, wide, _ = planned("1x3+1x1", ("0-1", "0-1", "0-1"), 2, *times, "  plan: {scope: spanning}\n")
    assert wide.best.nanoseconds == 293 * SECOND and not wide.question.scope.left_out
    _, own, _ = planned("1x3+1x1", ("0-3", "0-3", "0-1"), 2, *times)
    assert own.is_own and own.best.nanoseconds == 293 * SECOND


@pytest.mark.parametrize(("plan", "seconds"), [("", 270), ("  plan: {scope: nested}\n", 112)])
def test_reward_with_times_is_on_some_of_their_accelerators_where_the_scope_is_nested(plan: str, seconds: int) -> None:
    reward = "    reward: {scaling: table, seconds: {1: 13, 2: 171}}\n"
    _, found, _ = planned("1x2", ("0-1", "0-1", "1"), 2, "1: 233, 2: 54", "1: 203, 2: 45", reward + plan)
    assert found.best.nanoseconds == seconds * SECOND


def test_without_other_components_no_nested_plans_are_left_out() -> None:
    """Actor and rollout share all of their accelerators or none, as RLinf has it."""
    _, found, _ = planned("1x2", ("0-1", "0-1", "0-1"), 1, "1: 233, 2: 54", "1: 203, 2: 45")
    assert not found.question.scope.left_out


def test_that_nobody_is_put_onto_reward_is_said_where_it_shares_nothing() -> None:
    _, _, apart = planned("1x2", ("0", "0", "1"), 1, "1: 100", "1: 100")
    assert "reward: its ranks stay, no other component is put onto them, since it has no `seconds`" in apart
    _, _, along = planned("1x2", ("0", "0", "0"), 1, "1: 100", "1: 100")
    assert not [each for each in along if "stay" in each]


def test_reward_is_apart_where_its_memory_leaves_no_room_for_others_and_that_takes_less() -> None:
    """It went along with the actor in every plan: on one accelerator each, or with a budget in none at all."""
    times, memory = ("1: 171, 2: 166", "1: 920, 2: 100"), ", memory: 40GiB"
    for budget, seconds in (("", 266), ("  plan: {budget: {accelerators: 2}}\n", 1091)):
        _, found, _ = planned("1x3xH100", ("2", "0-1", "2"), 1, *times, "    reward: {memory: 60GiB}\n" + budget, memory)
        assert found.proved and found.best.nanoseconds == seconds * SECOND
        assert {block.components for block in found.best.design.blocks} == {("actor", "rollout"), ("reward",)}
