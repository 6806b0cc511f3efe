"""Which rule of a record a finding is about: the records name verl's rules, findings say them."""

from __future__ import annotations

import re

from placewright.models.findings.finding import Finding

SAID = (
    (r"cannot be divided into \d+ sequence parallel ranks", "sp_divides_world"),
    (r"cannot be divided into shards over", "fsdp_size_divides_world"),
    (r"cannot be divided by expert tp x ep x pp", "megatron_etp_ep_pp_divides_world"),
    (r"of actor cannot be divided by tp x pp x cp", "megatron_tp_pp_cp_divides_world"),
    (r"of rollout cannot be divided by tp x pp x cp", "infer_world_divides_world"),
    (r"^replica \d+ of rollout", "replica_does_not_straddle_nodes(silent)"),
    (r"must be tp x dp", "rollout_ep_eq_tp_x_dp"),
    (r"which verl has removed", "rollout_mode_sync_removed"),
    (r"among \d+ agent loop workers", "gen_batch_div_agent_workers"),
    (r"of a mini batch do(es)? not divide among the \d+ data parallel ranks of", "mini_batch_exact_per_dp(soft)"),
    (r"does not divide among \d+ data parallel ranks", "mini_batch_exact_per_dp(soft)"),
    (r"among the \d+ data parallel ranks of actor", "batch_div_actor_dp"),
    (r"among (the \d+ accelerators of the trainer|\d+ data parallel ranks? in micro batches)", "batch_div_minimal_bsz"),
    (r"`data.train_batch_size` \d+.* is less than `", "train_batch_ge_mini_batch"),
    (r"(is|are) fewer than the \d+ data parallel ranks", "normalized_mini_batch_positive"),
    (r"samples? that a rank of \w+ takes", "mini_div_micro"),
    (r"`reward_pool` gets no worker", "reward_loop_plus_pool_not_empty_class_dict"),
    (r"` is set, but `[\w.]+` is -?\d+", "reward_pool_positive"),
    (r"of reward_model cannot be divided", "reward_tp_divides_pool"),
    (r"verl starts \d+ servers?", "gen_server_num_replicas_uses_tp_only"),
    (r"halved", "split_uses_all_gpus"),
)
"""A part of a message -> the rule of the records that it breaks."""


def rule_of(finding: Finding) -> str:
    """The rule that the finding says is broken; "" if the records know none of that kind."""
    return next((rule for part, rule in SAID if re.search(part, finding.message)), "")
