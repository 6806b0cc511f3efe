"""Plans in which traffic counts as time cost what the same sizes cost once they are written, and no sizes that can be written cost less."""

from __future__ import annotations

from itertools import product
from typing import Iterator

import pytest
from placewright.api import solve
from placewright.models.dialects.load import read
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.models.text.source import Source
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem

FILE = """\
data: {{train_batch_size: 96}}
algorithm: {{adv_estimator: grpo}}
actor_rollout_ref:
  hybrid_engine: False
  model: {{path: Qwen/Qwen2.5-7B-Instruct}}
  actor: {{strategy: fsdp, ppo_mini_batch_size: 96, ppo_micro_batch_size_per_gpu: 1}}
  rollout: {{name: vllm, tensor_model_parallel_size: 1, n: 1, log_prob_micro_batch_size_per_gpu: 1}}
trainer: {{nnodes: {0[0]}, n_gpus_per_node: {0[1]}}}
rollout: {{nnodes: {1[0]}, n_gpus_per_node: {1[1]}}}
placewright:
  components:
    actor: {{seconds: {{1: 160, 2: 80, 4: 45}}}}
    rollout: {{seconds: {{1: 175, 2: 90, 4: 50}}}}
  plan: {{bandwidth: {{node: {2}}}}}
"""
SHAPES = [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2)]
"""(parts, accelerators of each) on two nodes with two each."""


def problem_of(trained: tuple[int, int], served: tuple[int, int], bandwidth: str) -> Problem:
    found = read(Source("train.yaml", FILE.format(trained, served, bandwidth)), read_shorthand("2x2"), "auto").to_solve.problem
    assert found is not None
    return found


def written(bandwidth: str) -> Iterator[int]:
    """What each pair of pools takes that verl can make, by its own ranks, in nanoseconds."""
    for trained, served in product(SHAPES, SHAPES):
        problem = problem_of(trained, served, bandwidth)
        workload = problem.job.planning.workload
        if workload is not None and {"actor", "rollout"} <= set(problem.job.planning.own):
            its = baseline_of(problem, planning_problem(problem), cost_model(workload.model))
            if its.priced is not None and not its.forbidden:
                yield its.priced.nanoseconds + its.priced.traffic


@pytest.mark.slow
@pytest.mark.parametrize("bandwidth", ["20MiB", "500MiB", "4GiB"])
def test_no_sizes_that_can_be_written_take_less_than_the_plan(bandwidth: str) -> None:
    every = list(written(bandwidth))
    planned = solve(problem_of((1, 1), (1, 1), bandwidth), sandbox=False).planned
    assert planned is not None and planned.proved and len(every) > 5
    assert planned.best.nanoseconds + planned.best.traffic == min(every)
