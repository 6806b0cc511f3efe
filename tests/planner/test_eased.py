"""Help where a budget or the nodes are too small: what is told was planned and placed, so that whoever follows it has a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Callable

import pytest
from placewright.api import solve as solved
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.dialects.load import read
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.workload import ACCELERATORS, SECOND, Budget, Workload
from placewright.models.problem import Problem
from placewright.models.text.source import Source
from placewright.planner.plan import plan
from placewright.solver.searching.search import solve

from .looped import CHAIN, drawn

POOLS = """\
python3 -m verl.experimental.one_step_off_policy.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 \\
    actor_rollout_ref.hybrid_engine=False actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    trainer.n_gpus_per_node=4 trainer.nnodes=1 rollout.n_gpus_per_node=4 rollout.nnodes=1 \\
    +placewright.components.actor.seconds.8=60 +placewright.components.rollout.seconds.8=180 \\
    +placewright.plan.minimise=accelerators +placewright.plan.budget.seconds={seconds}
"""


def pools(machines: str, seconds: str) -> Answer:
    return solved(read(Source("run.sh", POOLS.replace("{seconds}", seconds)), read_shorthand(machines)), sandbox=False)


def help_of(answer: Answer) -> str:
    assert answer.plan is None
    return answer.findings[0].help


def allowed(answer: Answer, what: str) -> str:
    """The number in such as ``allow `seconds: 60` ``."""
    assert f"allow `{what}: " in help_of(answer), answer.findings
    return help_of(answer).split(f"allow `{what}: ")[1].split("`")[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 12, 21, 25])
def test_the_seconds_and_accelerators_that_are_named_are_those_of_a_plan(seed: int) -> None:
    asked_for = drawn(seed)

    def planned(budget: Budget, place: Callable[[Problem], Answer] = solve) -> Answer:
        workload = replace(CHAIN, budget=budget)
        return plan(asked_for.with_workload(workload), place)

    free = planned(Budget())
    assert free.planned is not None
    refused = planned(Budget(nanoseconds=1))
    assert refused.verdict == IMPOSSIBLE
    enough = float(allowed(refused, "seconds"))
    assert enough == -(-free.planned.best.nanoseconds // 10**6) / 1000  # no design that cannot be placed is meant
    assert planned(Budget(nanoseconds=int(enough * SECOND))).plan is not None
    # Where nothing that was tried has a placement, no number is named.
    none = planned(Budget(nanoseconds=1), lambda its: Answer(UNDECIDED, how="search"))
    assert "allow" not in help_of(none)


def test_where_accelerators_are_short_as_many_are_named_as_a_plan_uses() -> None:
    asked_for = drawn(5)
    workload = Workload(CHAIN.after, budget=Budget(accelerators=1), aim=ACCELERATORS)
    refused = plan(asked_for.with_workload(workload), solve)
    enough = replace(workload, budget=Budget(accelerators=int(allowed(refused, "accelerators"))))
    assert plan(asked_for.with_workload(enough), solve).plan is not None


def test_where_a_framework_lays_out_pools_whole_nodes_are_named_with_which_there_is_a_plan() -> None:
    told = help_of(pools("3x8", "60"))
    assert told == f"allow `seconds: {allowed(pools('3x8', '60'), 'seconds')}`; or add 1 node with 8 accelerators"
    assert pools("3x8", allowed(pools("3x8", "60"), "seconds")).plan is not None
    assert pools("4x8", "60").plan is not None


def test_what_only_fits_inside_one_another_is_told_to_be_nested_where_nothing_else_was_placed(tmp_path: Path) -> None:
    """Four of each lie together on one node or apart on eight accelerators; rollout lies on three of reward's."""
    file = tmp_path / "job.yaml"
    text = (
        "cluster: {nodes: [{accelerators: {count: 4}}, {accelerators: {count: 2}}]}\ncomponents:\n"
        "  rollout: {accelerators: 3-4, keep: {component: node}, scaling: table, seconds: {3: 20, 4: 15}}\n"
        "  reward: {accelerators: 4, spread: {level: node, domains: 2, percent: 75}, seconds: {4: 10}}\n"
        "plan: {workflow: rollout -> reward"
    )
    file.write_text(text + "}\n", encoding="utf-8")
    answer = solved(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE and "write `scope: [nested]` in `plan`" in help_of(answer)
    file.write_text(text + ", scope: nested}\n", encoding="utf-8")
    assert solved(str(file), sandbox=False).plan is not None
