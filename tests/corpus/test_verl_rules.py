"""Every rule that a record of verl judges has the same verdict here, apart from one table."""

from __future__ import annotations

from typing import Any

import pytest
from against_verl.rules import rule_of
from placewright.models.findings.finding import Severity
from placewright.planner.verify import verify
from test_verl_golden import CORPUS, read, records

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

SYNC = "its configuration says `sync` (on_policy_distill_trainer.yaml); the record takes the default of `ppo_trainer`"
STREAM = (
    "a step of the fully asynchronous trainer has 32 x 4 x 16 = 2048 samples, which 12 ranks do not divide; the record does not judge it"
)
DELIBERATE = {
    ("verl/experimental/fully_async_policy/shell/dapo_7b_math_fsdp2_4_12.sh", "batch_div_actor_dp"): STREAM,
    ("recipe/prime/run_prime_qwen.sh", "rollout_mode_sync_removed"): "its configuration says `sync` (prime_trainer.yaml)",
    ("recipe/prime/run_prime_qwen_code.sh", "rollout_mode_sync_removed"): "its configuration says `sync` (prime_trainer.yaml)",
    ("recipe/gkd/test_qwen.sh", "rollout_mode_sync_removed"): SYNC,
    ("recipe/gkd/test_qwen_sglang.sh", "rollout_mode_sync_removed"): SYNC,
    ("recipe/entropy/32b_kl_cov_mininbsz.sh", "mini_div_micro"): (
        "16 x 8 // 32 = 4 samples a rank, ppo_micro_batch_size_per_gpu 8: verl's workers assert this with use_dynamic_bsz too"
    ),
    ("recipe/gkd/run_moonlight_dsv3_training.sh", "mini_batch_exact_per_dp(soft)"): "the actor of gkd takes no mini batches of prompts",
    ("recipe/gkd/run_moonlight_dsv3_training.sh", "batch_div_actor_dp"): "the recipe makes two pools; the record takes it for one of 6",
}
"""(file, rule) on which a record and we differ on purpose, and why."""


@pytest.mark.slow
@pytest.mark.parametrize("record", [pytest.param(each, id=each["file"]) for each in records() if each["derived"]])
def test_a_record_and_we_find_the_same_rules_broken(record: dict[str, Any]) -> None:
    theirs = {rule for rule, verdict in record["derived"].get("rules", {}).items() if not verdict["ok"]}
    ours = {rule for finding in verify(read(record)).findings if (rule := rule_of(finding))}
    assert {(record["file"], rule) for rule in theirs ^ ours} <= DELIBERATE.keys()


def test_a_rule_that_a_record_calls_broken_is_an_error_unless_the_program_has_a_trainer_of_its_own() -> None:
    broken = [each for each in records() if each["derived"] and each["derived"].get("ok") is False]
    assert len(broken) == 16
    for record in broken:
        reading = read(record)
        told = {rule_of(finding): finding.severity for finding in verify(reading).findings}
        for rule in record["derived"]["broken"]:
            if not rule.endswith("(soft)") and (record["file"], rule) not in DELIBERATE:
                wanted = Severity.WARNING if record["derived"].get("own_trainer") else Severity.ERROR
                assert told[rule] is wanted, (record["file"], rule)
