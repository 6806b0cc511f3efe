"""A pool of one size may be written in several shapes: as long as verl takes one of them, that size may be the plan, and is proved."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Iterator

import placewright as pw
import pytest
from placewright.models.findings.finding import error
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.placing import placing
from placewright.planner.problem import planning_problem
from placewright.planner.search.search import search
from placewright.solver.choosing.pool_layouts import place_in_pools
from placewright.solver.searching.search import solve

SCRIPT = """\
#!/bin/bash
python3 -m verl.experimental.one_step_off_policy.main_ppo \\
    data.train_batch_size=24 algorithm.adv_estimator=grpo \\
    actor_rollout_ref.hybrid_engine=False actor_rollout_ref.actor.ppo_mini_batch_size=24 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 actor_rollout_ref.rollout.n=2 actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    trainer.nnodes={0[0]} trainer.n_gpus_per_node={0[1]} rollout.nnodes={1[0]} rollout.n_gpus_per_node={1[1]} \\
    +placewright.components.actor.seconds.6={2} +placewright.components.rollout.seconds.4={3}
"""
SHAPES = [(parts, size) for parts in range(1, 7) for size in range(1, 4) if parts * size <= 6]
CLUSTER = "2x3"


def script(tmp_path: Path, *numbers: object) -> Path:
    path = tmp_path / "train.sh"
    path.write_text(SCRIPT.format(*numbers))
    return path


def legal(tmp_path: Path, actor: int, rollout: int) -> Iterator[int]:
    """What each pair of pools takes that verl makes without a word, in nanoseconds."""
    for trained, served in product(SHAPES, SHAPES):
        if trained[0] * trained[1] + served[0] * served[1] > 6:
            continue
        reading = pw.load(script(tmp_path, trained, served, actor, rollout), cluster=CLUSTER, framework="verl==1dda039b")
        report = pw.verify(reading)
        if report.errors or any(each.code == "PW215" for each in report.findings):
            continue  # PW215: it fits only if Ray puts parts elsewhere than it prefers
        problem = reading.to_solve.problem
        assert problem is not None and problem.job.planning.workload is not None
        its = baseline_of(problem, planning_problem(problem), cost_model(problem.job.planning.workload.model))
        if its.priced is not None:
            yield its.priced.nanoseconds


@pytest.mark.slow
@pytest.mark.parametrize(("actor", "rollout"), [(144, 119), (60, 200), (200, 60)])
def test_no_shapes_take_less_than_the_plan_which_is_proved(tmp_path: Path, actor: int, rollout: int) -> None:
    every = list(legal(tmp_path, actor, rollout))
    planned = pw.solve(script(tmp_path, (1, 1), (1, 2), actor, rollout), cluster=CLUSTER, framework="verl==1dda039b").planned
    assert planned is not None and planned.proved and len(every) > 5
    assert planned.best.nanoseconds == min(every)


def test_a_shape_that_is_refused_leaves_the_others_and_all_of_them_leave_none(tmp_path: Path) -> None:
    problem = pw.load(script(tmp_path, (1, 1), (1, 2), 144, 119), cluster=CLUSTER).to_solve.problem
    assert problem is not None and problem.job.planning.workload is not None
    question = planning_problem(problem)
    found = search(question, cost_model(problem.job.planning.workload.model)).best
    assert found is not None
    placed, seen = placing(problem, question, found.design), list[Plan]()

    def once(laid: Problem, plan: Plan) -> list[pw.Finding]:
        seen.append(plan)
        return [error("PW214", "rollout", "torn")] if len(seen) == 1 else []

    answer = place_in_pools(placed, solve, once)
    assert answer.plan is not None and len(seen) == 2
    none = place_in_pools(placed, solve, lambda laid, plan: [error("PW214", "rollout", "torn")])
    assert none.plan is None and none.verdict == "impossible" and "in any layout" in none.findings[0].message


def test_a_replica_over_parts_of_one_accelerator_has_servers_of_one_whatever_its_nodes_give(tmp_path: Path) -> None:
    """One accelerator of the first of two nodes trains: a replica of three has what is left, one there and two on the other node."""
    path = script(tmp_path, (1, 1), (1, 2), 144, 119)
    text = path.read_text().replace("tensor_model_parallel_size=2", "tensor_model_parallel_size=3")
    path.write_text(text.replace("rollout.nnodes=1 rollout.n_gpus_per_node=2", "rollout.nnodes=3 rollout.n_gpus_per_node=1"))
    reading = pw.load(path, cluster="2x2")
    assert reading.to_solve.problem is not None and not pw.verify(reading).errors
    planned = pw.solve(path, cluster="2x2").planned
    assert planned is not None and planned.proved
    assert {name: option.amount for name, option in planned.best.design.options.items()} == {"actor": 1, "rollout": 3}
