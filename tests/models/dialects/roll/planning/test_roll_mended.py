"""A ROLL file whose own degrees are refused, where its hints offer others: these are planned."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.parallel import Parallel

HEAD = """\
num_gpus_per_node: 8
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
init_kl_coef: 0
rewards: {math: {world_size: 4, tag_included: [math]}}
"""
SGLANG = """\
actor_train:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 16}
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 1}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: sglang, strategy_config: {tensor_parallel_size: 2}}
  num_gpus_per_worker: 1
  device_mapping: list(range(0,8))
placewright:
  components:
    actor_train: {scaling: table, seconds: {8: 30}}
    actor_infer: {parallel: {tp: TP}, scaling: table, seconds: [{accelerators: 8, tp: 1, seconds: 33}, {accelerators: 8, tp: 4, seconds: 20}]}
"""
ULYSSES = """\
actor_train:
  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 16}
  strategy_args: {strategy_name: fsdp2_train, strategy_config: {fsdp_size: 2}}
  model_args: {ulysses_size: 4}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}
  device_mapping: list(range(0,8))
placewright:
  components:
    actor_train: {parallel: {cp: CP}, scaling: table, seconds: [{accelerators: 8, cp: 1, seconds: 30}, {accelerators: 8, cp: 2, seconds: 10}]}
    actor_infer: {scaling: table, seconds: {8: 33}}
"""


@pytest.mark.parametrize(
    ("text", "name", "chosen", "seconds"),
    [
        (SGLANG.replace("TP", "[1, 4]"), "actor_infer", Parallel(tp=4), 50),
        (ULYSSES.replace("CP", "[1, 2]"), "actor_train", Parallel(cp=2), 43),
    ],
)
def test_degrees_that_mend_the_file_are_planned(tmp_path: Path, text: str, name: str, chosen: Parallel, seconds: int) -> None:
    """The file's own fault was told, and nothing planned. What `verify` says of the file is as before."""
    file = tmp_path / "job.yaml"
    file.write_text(HEAD + text)
    (fault,) = (finding for finding in pw.verify(file, "1x8xH100").findings if finding.code == "PW403")
    assert fault.severity == "error"
    answer = pw.solve(file, "1x8xH100", sandbox=False)
    assert answer.plan is not None and answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == seconds * 10**9
    assert answer.plan.degrees[name] == chosen


def test_where_no_choice_mends_it_the_files_own_fault_is_told(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(HEAD + ULYSSES.replace("CP", "[4, 8]"))
    with pytest.raises(pw.UnusableInput) as told:
        pw.solve(file, "1x8xH100", sandbox=False)
    assert any(finding.code == "PW403" for finding in told.value.findings)
