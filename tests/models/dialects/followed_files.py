"""Files in which degrees follow from those which are chosen, of each framework, and their plans."""

from __future__ import annotations

from pathlib import Path
from random import Random

import placewright as pw
from placewright.models.planning.planned import PlanningResult

TPS = (1, 2, 4)
RLINF = """\
cluster: {{num_nodes: 1, component_placement: {{rollout: 0-3, reward: 0-3, actor: 4-5, inference: 6-7}}}}
data: {{rollout_batch_size: 64}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: true}}
runner: {{task_type: reasoning}}
rollout: {{rollout_backend: vllm, return_logprobs: true, max_running_requests: 64, tensor_parallel_size: 1}}
actor:
  training_backend: {backend}
  model: {{tensor_model_parallel_size: {own}}}
{inference}placewright:
  components:
    actor: {{parallel: {{tp: {offered}}}, scaling: table, seconds: [{actor}]}}
    rollout: {{scaling: table, seconds: {{4: 20}}}}
    inference: {{scaling: table, seconds: [{inferred}]}}
"""
INTERPOLATED = 'inference: {model: {tensor_model_parallel_size: "${actor.model.tensor_model_parallel_size}"}}\n'
ROLL = """\
num_gpus_per_node: 8
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
use_kl_loss: true
actor_train:
  training_args: {{per_device_train_batch_size: 1, gradient_accumulation_steps: 16}}
  strategy_args: {{strategy_name: megatron_train, strategy_config: {{tensor_model_parallel_size: {own}}}}}
  device_mapping: list(range(0,8))
reference:
  strategy_args:
    strategy_name: megatron_infer
    strategy_config: {{tensor_model_parallel_size: "${{actor_train.strategy_args.strategy_config.tensor_model_parallel_size}}"}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {{strategy_name: vllm, strategy_config: {{tensor_parallel_size: 2}}}}
  device_mapping: list(range(0,8))
rewards: {{math: {{world_size: 4, tag_included: [math]}}}}
placewright:
  components:
    actor_train: {{parallel: {{tp: {offered}}}, scaling: table, seconds: [{actor}]}}
    reference: {{scaling: table, seconds: [{inferred}]}}
    actor_infer: {{scaling: table, seconds: {{8: 40}}}}
"""
VERL = """\
data: {{train_batch_size: 96}}
algorithm: {{adv_estimator: grpo}}
actor_rollout_ref:
  actor: {{{actor_keys}, ppo_mini_batch_size: 48, ppo_micro_batch_size_per_gpu: 4}}
  rollout: {{name: vllm, n: 8, log_prob_micro_batch_size_per_gpu: 8, tensor_model_parallel_size: {rollout_tp}}}
trainer: {{nnodes: 1, n_gpus_per_node: 8}}
placewright:
  components:
    actor: {{{actor_parallel}scaling: table, seconds: [{actor}]}}
    rollout: {{{rollout_parallel}scaling: table, seconds: [{rollout}]}}
"""
ACTOR, ROLLOUT = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "actor_rollout_ref.rollout.tensor_model_parallel_size"
MEGATRON, FSDP = "strategy: megatron, megatron: {{tensor_model_parallel_size: {}}}", "strategy: fsdp, ulysses_sequence_parallel_size: {}"


def rows(counts: tuple[int, ...], random: Random) -> str:
    return ", ".join(
        f"{{accelerators: {count}, tp: {tp}, seconds: {random.randint(10, 99)}}}" for tp in TPS for count in counts if count >= tp
    )


def planned(file: Path, dialect: str) -> PlanningResult:
    answer = pw.solve(file, "1x8", dialect, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    return answer.planned
