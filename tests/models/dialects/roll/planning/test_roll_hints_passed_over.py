"""Degrees that hints say of a role with a place, and that nothing chooses, are told as passed over."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

TEXT = """exp_name: t
num_gpus_per_node: 8
rollout_batch_size: 128
num_return_sequences_in_group: 8
prompt_length: 1024
response_length: 3072
adv_estimator: reinforce
init_kl_coef: 0
use_kl_loss: false
actor_train:
  training_args: {learning_rate: 1.0e-6, per_device_train_batch_size: 1, gradient_accumulation_steps: 16}
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {gpu_memory_utilization: 0.8, tensor_parallel_size: 2}}
  device_mapping: list(range(0,8))
placewright: {components: {actor_infer: {HINT}}}
"""


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("parallel: {tp: [3, 4]}", "tp 3 or tp 4"), ("parallel: {tp: 4}", "tp 4"), ("parallel: {tp: [2, 4]}", ""), ("parallel: {tp: 2}", ""),
        ("parallel: {tp: [1, 4]}, seconds: {8: 60}", ""), ("memory: 1GiB", ""),
    ],
)  # fmt: skip
def test_degrees_of_a_placed_role_without_times(hint: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(TEXT.replace("HINT", hint))
    found = pw.verify(tmp_path / "run.yaml", cluster="2x8xH100")
    assert not found.errors
    message = (
        f"`parallel` of `actor_infer` is {said}, but the role has its place and the strategy of the role makes it tp 2: the hint is ignored"
    )
    assert [each.message for each in found.findings if each.code == "PW124"] == ([message] if said else [])
