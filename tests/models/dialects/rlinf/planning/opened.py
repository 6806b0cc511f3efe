"""A job of RLinf with a profile, whose counts and arrangement are open."""

from __future__ import annotations

from typing import Callable

from placewright.models.problem import Problem
from placewright.models.reading import Reading

Read = Callable[..., Reading]
FILE = """
cluster: {num_nodes: 2, component_placement: PLACED}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 64}
rollout: {tensor_parallel_size: 2, max_running_requests: 64}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 4}}
profile_data: {rollout_cost: 60, actor_cost: 40, inference_cost: 10}
"""
TOGETHER = '{"actor,rollout,reward": all}'
APART = "{rollout: 0-7, reward: 0-7, inference: 8-11, actor: 12-15}"


def text(placed: str = TOGETHER) -> str:
    return FILE.replace("PLACED", placed)


def problem(reading: Reading) -> Problem:
    assert reading.problem is not None
    return reading.problem


def said(reading: Reading, code: str = "PW604") -> list[str]:
    return [finding.message for finding in reading.findings if finding.code == code]


EMBODIED = """
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied, only_eval: false}
env: {train: {total_num_envs: 64}}
rollout: {pipeline_stage_num: 2}
actor: {training_backend: fsdp}
profile_data: {env_profile_data: {8: 1.2, 16: 2.4, 32: 4.6}, rollout_profile_data: {8: 1.0, 16: 2.1, 32: 3.7}, actor_cost: 20}
"""
