"""What verl refuses before it starts a worker, in the workers and at the first step; asked of verl's own code in tests/corpus."""

from __future__ import annotations

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_settings, read
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify

GOOD = {
    "algorithm.adv_estimator": "grpo",
    "data.train_batch_size": 256,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 64,
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 2,
    "actor_rollout_ref.rollout.name": "vllm",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": 2,
}
ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
MEGATRON = "ppo_megatron_trainer"
ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo --config-name=one_step_off_ppo_trainer"
FULLY = "verl.experimental.fully_async_policy.fully_async_main --config-name=fully_async_ppo_trainer"
APART = {"actor_rollout_ref.hybrid_engine": False}


def errors(program: str, changes: dict[str, object], release: str = "b178a3cd") -> list[str]:
    """What is wrong with the good configuration after these changes; None removes a key."""
    settings = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    text = " \\\n  ".join([f"python3 -m {program}", *(f"{key}={value}" for key, value in settings.items())])
    reading: Reading = read(Source("run.sh", text + "\n"), level="training", composer=Composer(frameworks=(f"verl=={release}",)))
    return ["\n".join((finding.message, *finding.notes)) for finding in verify(reading).findings if finding.severity is Severity.ERROR]


MAIN = "verl.trainer.main_ppo"
ON_MEGATRON = f"{MAIN} --config-name={MEGATRON}"
REFUSED = {
    "no size for what rollout infers": (MAIN, {f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": None}, "verl demands it unless"),
    "nor for the reference": (MAIN, {f"{ACTOR}.use_kl_loss": True}, "`actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu` is not set"),
    "the reference of Megatron": (
        ON_MEGATRON, {f"{ACTOR}.use_kl_loss": True, f"{ACTOR}.use_dynamic_bsz": True}, "the reference policy of Megatron demands it",
    ),
    "a deprecated size": (MAIN, {f"{ACTOR}.ppo_micro_batch_size": 16, f"{ACTOR}.ppo_micro_batch_size_per_gpu": None}, "and refuse both"),
    "a deprecated size of the critic": (
        MAIN, {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size": 16}, "verl takes one of them",
    ),
    "no engine": (MAIN, {f"{ROLLOUT}.name": None}, "is not set, and has no default"),
    "no hybrid engine": (MAIN, {"actor_rollout_ref.hybrid_engine": False}, "`actor_rollout_ref.hybrid_engine` is False, but"),
    "a hybrid engine apart": (ONE_STEP, {}, "`actor_rollout_ref.hybrid_engine` is True, but"),
    "two strategies": (ONE_STEP, {**APART, f"{ACTOR}.strategy": "fsdp2"}, "they must be the same"),
    "an unknown strategy": (MAIN, {"critic.strategy": "fsdp3"}, "it raises a NotImplementedError"),
    "Megatron in a configuration for FSDP": (MAIN, {f"{ACTOR}.strategy": "megatron"}, "the configuration `ppo_trainer` is for fsdp"),
    "a critic of the new workers": (
        MAIN, {"trainer.use_legacy_worker_impl": "disable", "algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 1,
               "critic.strategy": "fsdp2"}, "a critic is trained with fsdp alone",
    ),
    "padding": (
        MAIN, {f"{ACTOR}.ulysses_sequence_parallel_size": 2, "actor_rollout_ref.model.use_remove_padding": False}, "needs inputs without padding",
    ),
    "virtual stages of one stage": (ON_MEGATRON, {f"{ACTOR}.megatron.virtual_pipeline_model_parallel_size": 2}, "more than one pipeline stage"),
    "mini batches that do not fill a step": (
        ON_MEGATRON, {"data.train_batch_size": 96, f"{ACTOR}.use_dynamic_bsz": True}, "are not a multiple of the 8 of its mini batch",
    ),
    "meshes of rollout alone": (
        ONE_STEP, {**APART, f"{ACTOR}.fsdp_config.fsdp_size": 4, "rollout.n_gpus_per_node": 6}, "the 6 ranks of rollout cannot be divided",
    ),
    "steps of the asynchronous trainer": (
        FULLY, {**APART, "data.train_batch_size": 0, f"{ACTOR}.ppo_mini_batch_size": 36}, "samples of a step",
    ),
    "a half without workers": (
        "examples.split_placement.main_ppo_split --config-name=ppo_trainer_split", {}, "`critic_pool` gets no worker",
    ),
    "agents of the reward model": (
        MAIN, {"reward_model.enable": True, "reward_model.rollout.name": "vllm", "reward_model.num_workers": 3}, "3 reward loop workers",
    ),
}  # fmt: skip


MINI, LOGS, NEW = f"{ACTOR}.ppo_micro_batch_size_per_gpu", f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu", "trainer.use_legacy_worker_impl"
REFERENCE, LOSS = "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", f"{ACTOR}.use_kl_loss"
MICRO_BATCHES: list[tuple[str, dict[str, object], str]] = [
    ("0.6.1", {NEW: "disable", MINI: 3}, "are not a multiple of"),  # `disable` changes the critic alone
    ("0.6.1", {NEW: "disable", f"{ACTOR}.use_dynamic_bsz": True, "data.train_batch_size": 96}, ""),
    (
        "0.7.0",
        {NEW: "disable", f"{ACTOR}.use_dynamic_bsz": True, "data.train_batch_size": 96},
        "are not a multiple of the 8 of its mini batch",
    ),
    ("0.8.0", {"data.train_batch_size": 96}, "are not a multiple of the 8 of its mini batch"),
    ("0.9.0", {"data.train_batch_size": 96}, ""),  # padded
    ("0.9.0", {"data.train_batch_size": 96, "trainer.use_v1": False}, "are not a multiple of the 8 of its mini batch"),
    ("0.7.0", {NEW: "disable", MINI: 3}, ""),
    ("0.7.0", {NEW: "disable", MINI: 16}, "the 8 samples of a rank of actor are not a multiple"),
    ("0.7.1", {NEW: "disable", MINI: 3}, "the 8 samples of a rank of actor are not a multiple"),
    ("0.8.0", {MINI: 3}, "the 8 samples of a rank of actor are not a multiple"),
    ("0.8.0", {LOGS: 5}, "the 32 samples of a rank of rollout are not a multiple"),
    ("0.8.0", {LOGS: 5, "algorithm.rollout_correction.bypass_mode": True, f"{ROLLOUT}.calculate_log_probs": True}, ""),
    ("1dda039b", {LOGS: 5, f"{ACTOR}.use_dynamic_bsz": True}, ""),
    ("1dda039b", {LOGS: 5}, "the 32 samples of a rank of rollout are not a multiple"),
    ("1dda039b", {LOGS: 16, "data.train_batch_size": 96}, ""),  # padded to two mini batches
    ("1dda039b", {LOSS: True, REFERENCE: 5}, "the 32 samples of a rank of ref are not a multiple"),
    # The critic's engine fits its batches to the tokens whatever is written.
    ("1dda039b", {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 3}, ""),
]


@pytest.mark.parametrize(("release", "changes", "words"), MICRO_BATCHES)
def test_micro_batches_of_the_model_engine_fill_the_samples_of_a_rank(release: str, changes: dict[str, object], words: str) -> None:
    found = errors(MAIN, changes, release)
    assert len(found) == bool(words) and all(words in message for message in found), found


def test_a_trainer_that_pads_takes_steps_of_any_size() -> None:
    assert errors("verl.trainer.main_ppo_sync", {"data.train_batch_size": 96}, "0.8.0") == []


ENGINES: list[tuple[dict[str, object], str]] = [
    ({"model_engine": "veomni", f"{ACTOR}.veomni.fsdp_size": 3}, "cannot be divided into shards over 3"),
    ({"model_engine": "veomni", f"{ACTOR}.veomni.fsdp_size": 4, f"{ACTOR}.veomni.ulysses_parallel_size": 4}, ""),
    ({"model_engine": "veomni", f"{ACTOR}.veomni.ulysses_parallel_size": 3}, "cannot be divided into 3 sequence parallel ranks"),
    ({f"{ACTOR}.fsdp_config.fsdp_size": 0}, "over no rank"),
    ({"model_engine": "torchtitan", f"{ACTOR}.torchtitan.pipeline_parallel_size": 2, f"{ACTOR}.torchtitan.data_parallel_shard_size": 4},
     "no pipeline stages with torchtitan"),
    ({"model_engine": "megatron", f"{ACTOR}.megatron.dtype": "float32"}, "which verl's Megatron engine refuses"),
    ({"model_engine": "megatron", f"{ACTOR}.megatron.dtype": "float16"}, ""),
    ({"model_engine": "megatron", f"{ACTOR}.megatron.dynamic_context_parallel": True}, "need `actor_rollout_ref.actor.megatron.max_seqlen"),
    ({"model_engine": "megatron", f"{ACTOR}.megatron.dynamic_context_parallel": True, f"{ACTOR}.megatron.max_seqlen_per_dp_cp_rank": 4096}, ""),
    ({"model_engine": "megatron", f"{ACTOR}.megatron.dynamic_context_parallel": True, f"{ACTOR}.megatron.max_seqlen_per_dp_cp_rank": 4096,
      f"{ACTOR}.megatron.tensor_model_parallel_size": 8}, "dynamic context needs an even number"),
    ({"data.gen_batch_size": 48}, "`data.train_batch_size` 256 is not a multiple of `data.gen_batch_size` 48"),
    ({"data.gen_batch_size": 64}, ""),
    ({"data.gen_batch_size": 48, "trainer.v1.trainer_mode": "colocate_async"}, ""),  # it draws single prompts, whatever is written
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), ENGINES)
def test_what_an_engine_of_the_newest_release_does_not_do_is_said(changes: dict[str, object], words: str) -> None:
    found = errors(MAIN, changes, "1dda039b")
    assert len(found) == bool(words) and all(words in message for message in found), found


RECIPE, SEPARATE = (
    "recipe.one_step_off_policy.main_ppo --config-name=one_step_off_ppo_trainer",
    {**APART, f"{ROLLOUT}.calculate_log_probs": True},
)
STREAMS = {**SEPARATE, "data.train_batch_size": 0, "data.gen_batch_size": 1}
SAMPLER, GROUPS, REWARD = "trainer.v1.sampler", "algorithm.filter_groups", "reward.reward_model"
SERVED = {
    f"{REWARD}.enable": True,
    f"{REWARD}.rollout.name": "vllm",
    f"{REWARD}.nnodes": 1,
    f"{REWARD}.n_gpus_per_node": 8,
}
SHARED = f"{ROLLOUT}.log_prob_micro_batch_size"
CRITIC = {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 1}
TOKENS, LONG = f"{ACTOR}.ppo_max_token_len_per_gpu", {f"{ACTOR}.use_dynamic_bsz": True, "data.max_response_length": 16384}
SAMPLED, COLD, ADAPTER = {f"{ROLLOUT}.val_kwargs.do_sample": True}, {f"{ROLLOUT}.temperature": 0}, "actor_rollout_ref.model.lora_rank"
SINGLE: list[tuple[str, str, dict[str, object], str]] = [
    *((release, MAIN, {**SAMPLED, **COLD}, "validation samples, but") for release in ("0.3.0", "0.5.0", "0.7.1", "1dda039b")),
    ("1dda039b", MAIN, COLD, ""),
    ("1dda039b", MAIN, SAMPLED, ""),
    ("0.6.1", MAIN, {ADAPTER: 1024}, "vLLM takes adapters of rank 512 at most, but `actor_rollout_ref.model.lora_rank` 1024"),
    ("0.6.0", MAIN, {ADAPTER: 1024}, ""),
    ("1dda039b", MAIN, {"actor_rollout_ref.model.lora.rank": 1024}, "rank 512 at most, but `actor_rollout_ref.model.lora.rank` 1024"),
    ("1dda039b", MAIN, {"actor_rollout_ref.model.lora.rank": 1024, "actor_rollout_ref.model.lora.merge": True}, ""),
    ("1dda039b", MAIN, {ADAPTER: 1024, f"{ROLLOUT}.name": "sglang"}, ""),
    ("0.8.0", MAIN, {f"{ACTOR}.loss_agg_mode": "token-sum"}, "`actor_rollout_ref.actor.loss_agg_mode` is `token-sum`, which is unknown"),
    ("0.9.0", MAIN, {f"{ACTOR}.loss_agg_mode": "token-sum"}, ""),
    ("0.5.0", MAIN, {"algorithm.adv_estimator": "grpo_vectorized"}, "no estimator of verl is named"),
    ("0.6.0", MAIN, {"algorithm.adv_estimator": "grpo_vectorized"}, ""),
    *((release, MAIN, {f"{ROLLOUT}.name": "vlm"}, "is `vlm`, an engine that this release") for release in ("0.3.0", "0.5.0", "0.6.1", "0.9.0")),
    ("0.9.0", MAIN, {f"{ROLLOUT}.name": "own", "actor_rollout_ref.model.external_lib": "own"}, ""),
    ("0.6.1", MAIN, {f"{ROLLOUT}.name": "hf"}, "is `hf`, an engine"),
    ("0.5.0", MAIN, {f"{ROLLOUT}.name": "hf"}, ""),
    ("0.7.0", MAIN, {f"{ROLLOUT}.name": "trtllm"}, "is `trtllm`, an engine"),
    ("0.9.0", MAIN, {f"{SAMPLER}.max_off_policy_threshold": 0}, "max_off_policy_threshold` is 0, but it must be at least 1"),
    ("0.9.0", MAIN, {f"{SAMPLER}.max_off_policy_strategy": "skip"}, "`trainer.v1.sampler.max_off_policy_strategy` is `skip`"),
    ("0.9.0", MAIN, {f"{SAMPLER}.max_off_policy_strategy": "skip", "trainer.use_v1": False}, ""),
    ("0.9.0", MAIN, {f"{GROUPS}.enable": True}, "`algorithm.filter_groups.enable` needs `algorithm.filter_groups.metric`"),
    ("0.9.0", MAIN, {f"{GROUPS}.enable": True, f"{GROUPS}.metric": "acc"}, ""),
    ("0.9.0", MAIN, {f"{GROUPS}.enable": True, f"{GROUPS}.metric": "acc", **SERVED}, "it needs a pool of its own"),
    ("0.9.0", MAIN, {f"{GROUPS}.enable": True, f"{GROUPS}.metric": "acc", **SERVED, f"{REWARD}.enable_resource_pool": True}, ""),
    ("0.9.0", MAIN, {f"{ACTOR}.use_kl_loss": True, REFERENCE: 2, "actor_rollout_ref.ref.strategy": "megatron"}, "is for fsdp"),
    ("0.7.0", MAIN, {f"{ACTOR}.use_kl_loss": True, REFERENCE: 2, "actor_rollout_ref.ref.strategy": "megatron"}, ""),
    *((release, MAIN, {**LONG, f"{ROLLOUT}.max_num_batched_tokens": 16896}, "16384 (its default) is less than the 16896 tokens of a padded sample") for release in ("0.3.0", "0.5.0", "0.7.1")),
    ("0.7.1", MAIN, {**LONG, TOKENS: 16896}, ""),
    *((release, MAIN, {LOGS: None, SHARED: 4}, "4 is less than the 8 data parallel ranks") for release in ("0.3.0", "0.6.1", "0.7.1")),
    ("0.7.1", MAIN, {LOGS: None, SHARED: 8}, ""),
    ("0.7.1", MAIN, {LOGS: None, SHARED: 4, f"{ACTOR}.ulysses_sequence_parallel_size": 2}, ""),
    ("0.7.1", MAIN, {LOGS: None, SHARED: 4, f"{ROLLOUT}.log_prob_use_dynamic_bsz": True}, ""),
    ("0.7.1", MAIN, {**LONG, f"{ACTOR}.ulysses_sequence_parallel_size": 2}, ""),
    ("0.7.1", MAIN, {**LONG, NEW: "disable", f"{ROLLOUT}.log_prob_use_dynamic_bsz": True}, ""),
    ("0.8.0", MAIN, LONG, ""),
    ("0.5.0", MAIN, {**CRITIC, "critic.use_dynamic_bsz": True, "critic.ppo_max_token_len_per_gpu": 512}, "`critic.ppo_max_token_len_per_gpu` 512"),
    ("0.7.0", RECIPE, {**APART, **CRITIC}, ""),
    ("0.8.0", ONE_STEP, {**APART, **CRITIC}, "this program has no workers that train a critic"),
    ("0.9.0", FULLY, {**STREAMS, **CRITIC}, "this program has no workers that train a critic"),
    ("0.9.0", ONE_STEP, {**APART, f"{ROLLOUT}.checkpoint_engine.backend": "naive"}, "is `naive`, which reaches no server apart"),
    ("0.9.0", MAIN, {**SERVED, f"{REWARD}.rollout.name": "hf"}, "`reward.reward_model.rollout.name` is `hf`, an engine"),
    ("0.9.0", MAIN, {f"{ROLLOUT}.prometheus.enable": True}, "Prometheus gets no statistics"),
    ("0.9.0", MAIN, {f"{ROLLOUT}.prometheus.enable": True, f"{ROLLOUT}.disable_log_stats": False}, ""),
    ("0.9.0", ONE_STEP, {**APART, **SERVED, f"{REWARD}.enable_resource_pool": True}, "this program places no reward model"),
    ("0.9.0", FULLY, {**STREAMS, **SERVED}, "servers apart never pause"),
    ("0.9.0", FULLY, {**STREAMS, **SERVED, f"{REWARD}.enable_resource_pool": True}, ""),
    ("0.9.0", FULLY, {**STREAMS, "async_training.use_trainer_do_validate": True, f"{ROLLOUT}.tensor_model_parallel_size": 4,
                      "trainer.n_gpus_per_node": 6, f"{ACTOR}.ppo_mini_batch_size": 48}, "the 6 ranks of the trainer, which generates too,"),
    ("0.9.0", FULLY, {**STREAMS, f"{ROLLOUT}.tensor_model_parallel_size": 4, "trainer.n_gpus_per_node": 6, f"{ACTOR}.ppo_mini_batch_size": 48}, ""),
    ("0.9.0", "verl.trainer.main_generation_server", {**COLD, f"{ROLLOUT}.n": 4}, "but at `temperature` 0 it must be 1"),
    ("0.9.0", "verl.trainer.main_generation_server", COLD, ""),
]  # fmt: skip


@pytest.mark.parametrize(("release", "program", "changes", "words"), SINGLE)
def test_settings_that_one_program_of_a_release_refuses_are_said(
    release: str, program: str, changes: dict[str, object], words: str
) -> None:
    changes = {"actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": 2, f"{ROLLOUT}.log_prob_use_dynamic_bsz": None, **changes}
    dynamic = {f"{ROLLOUT}.log_prob_use_dynamic_bsz": True} if changes.get(f"{ACTOR}.use_dynamic_bsz") and release >= "0.8" else {}
    found = errors(program, {**changes, **dynamic}, release)
    assert len(found) == bool(words) and all(words in message for message in found), found


@pytest.mark.parametrize(("settings", "words"), [("", "need inputs without padding"), ("use_remove_padding=True", "")])
def test_sequence_parallel_tuning_needs_inputs_without_padding(settings: str, words: str) -> None:
    text = f"torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer ulysses_sequence_parallel_size=2 data.micro_batch_size_per_gpu=4 {settings}\n"
    report = verify(read(Source("run.sh", text), level="training", composer=Composer(frameworks=("verl==0.5.0",))))
    found = [finding.message for finding in report.findings if finding.severity is Severity.ERROR]
    assert len(found) == bool(words) and all(words in message for message in found), found


@pytest.mark.parametrize("case", REFUSED)
def test_what_verl_refuses_is_said(case: str) -> None:
    program, changes, words = REFUSED[case]
    assert any(words in message for message in errors(program, changes)), errors(program, changes)


@pytest.mark.parametrize("program", [MAIN, ON_MEGATRON])
def test_what_verl_takes_is_not_refused(program: str) -> None:
    assert errors(program, {}) == []


def test_roles_of_one_process_have_the_groups_of_its_first() -> None:
    changes = {"algorithm.adv_estimator": "gae", "critic.ppo_micro_batch_size_per_gpu": 1, f"{ACTOR}.megatron.tensor_model_parallel_size": 2,
               "critic.megatron.tensor_model_parallel_size": 3}  # fmt: skip
    assert errors(ON_MEGATRON, changes) == []


def test_a_replica_over_parts_of_one_accelerator_has_a_server_for_each() -> None:
    assert errors(MAIN, {"trainer.nnodes": 4, "trainer.n_gpus_per_node": 1, f"{ROLLOUT}.tensor_model_parallel_size": 2}) == []


TUNED: list[tuple[str, str, str]] = [
    ("engine.ulysses_sequence_parallel_size=3", "faulty", "cannot be divided into 3 sequence parallel ranks"),
    ("engine.fsdp_size=3", "faulty", "cannot be divided into shards over 3"),
    ("engine=veomni optim=veomni engine.ulysses_parallel_size=3", "faulty", "cannot be divided into 3 sequence parallel ranks"),
    ("engine=veomni optim=veomni engine.expert_parallel_size=3", "incomplete", ""),
    ("engine=veomni optim=veomni engine.fsdp_size=3", "faulty", "cannot be divided into shards over 3"),
    ("engine=automodel engine.pp_size=2", "faulty", "no pipeline stages with automodel"),
    ("model.path=Qwen/Qwen2.5-7B engine.ulysses_sequence_parallel_size=8", "faulty", "do not divide among sp 8 of actor"),
    ("model.path=Qwen/Qwen2.5-7B engine=megatron optim=megatron engine.tensor_model_parallel_size=8", "faulty", "do not divide among tp 8 of actor"),
    ("model.path=Qwen/Qwen2.5-7B engine=megatron optim=megatron engine.tensor_model_parallel_size=4", "ok", ""),
    ("model.path=Qwen/Qwen3-30B-A3B engine=megatron optim=megatron engine.pipeline_model_parallel_size=8 "
     "+engine.override_transformer_config.num_layers_in_first_pipeline_stage=5", "faulty", "do not divide among 7 middle stages of actor"),
    ("engine=megatron optim=megatron engine.tensor_model_parallel_size=3", "faulty", "cannot be divided by tp x pp x cp = 3"),
    ("engine=megatron optim=megatron engine.tensor_model_parallel_size=4 data.train_batch_size=2", "ok", ""),
    ("engine=megatron optim=megatron engine.expert_model_parallel_size=3", "faulty", "expert tp x ep x pp"),
    ("engine=megatron optim=fsdp", "faulty", "but Megatron reads `min_lr`"),
    ("engine=megatron optim=megatron optim._target_=own.McoreOptimizerConfig", "ok", ""),
    ("optim._target_=verl.workers.config.optimizer.FSDPOptimizerConfig", "ok", ""),
    ("optim=automodel", "ok", ""),
    ("data.num_workers=$1 engine.fsdp_size=-1", "ok", ""),
    ("engine=automodel engine.tp_size=3", "faulty", "cannot be divided by tp x pp x cp = 3"),
    ("engine=torchtitan optim=torchtitan engine.tensor_parallel_size=2", "faulty", "must be the 8 ranks of actor"),
    ("engine=mindspeed", "incomplete", ""),
    ("data.train_batch_size=4", "faulty", "a batch of 0 samples is refused"),
    ("data.micro_batch_size_per_gpu=3 data.use_dynamic_bsz=False", "faulty", "the 2 samples of a rank of actor are not a multiple"),
    ("data.micro_batch_size_per_gpu=3", "ok", ""),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "verdict", "words"), TUNED)
def test_engines_that_fine_tune_divide_the_processes_of_torchrun(settings: str, verdict: str, words: str) -> None:
    text = f"torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer model.path=x data.train_batch_size=16 {settings}\n"
    report = verify(read(Source("run.sh", text), read_shorthand("x8"), level="training", composer=Composer(frameworks=("verl==0.8.0",))))
    found = ["\n".join((finding.message, *finding.notes)) for finding in report.findings if finding.severity is Severity.ERROR]
    assert report.verdict == verdict, found
    assert len(found) == bool(words) and all(words in message for message in found), found


def test_tuning_in_ray_deals_the_batch_and_without_a_launcher_nothing_is_assumed() -> None:
    ray = "python3 -m verl.trainer.sft_trainer_ray model.path=x trainer.n_gpus_per_node=8 data.train_batch_size=12\n"
    report = verify(read(Source("run.sh", ray), level="training", composer=Composer(frameworks=("verl==0.8.0",))))
    assert any("does not divide among 8 data parallel ranks" in each.message for each in report.findings)
    listed = load_settings(["engine.ulysses_sequence_parallel_size=2", "engine.fsdp_size=2", "model.path=x"], None, "verl")
    assert verify(listed).verdict == "incomplete"


ONE_CAUSE = {
    "a teacher": ({"distillation.enabled": True, "distillation.n_gpus_per_node": 4, "distillation.nnodes": 1,
                   "distillation.teacher_models.teacher_model.model_path": "/t",
                   "distillation.teacher_models.teacher_model.inference.tensor_model_parallel_size": 3}, "must divide `teacher_pool`"),
    "TorchTitan": ({"model_engine": "torchtitan", f"{ACTOR}.torchtitan.tensor_parallel_size": 3}, "must be the 8 ranks of actor"),
    "a batch": ({"trainer.use_v1": False, "data.train_batch_size": 68}, "do not divide among the 8 accelerators"),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_CAUSE)
def test_one_cause_is_one_finding(case: str) -> None:
    changes, words = ONE_CAUSE[case]
    found = errors(MAIN, changes, "1dda039b")
    assert len(found) == 1 and words in found[0], found
