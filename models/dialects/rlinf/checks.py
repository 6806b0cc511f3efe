"""Demands of RLinf on the settings of a job, as data.

A check names the RLinf code behind it. `SETTINGS` are always judged, `BATCHES` at the level
``training``.
"""

from __future__ import annotations

from typing import Iterable

from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...releases.release import Range
from ..checks import MULTIPLE, AtLeast, Check, Condition, Divides, Equals, Excludes, Facts, Number, OneOf, Requires, run_checks
from .known import CHECKED, DEGREE, FSDP, LATE, MEGATRON, SETTING
from .modes.state import DEMANDS, Mode, Placer

REASONING = ("reasoning", "coding_online_rl")
GROUPED = ("grpo", "grpo_dynamic", "reinpp_baseline")
"""Values of `algorithm.adv_type` that compare the samples of a group."""
AGAIN, RETURNED, FIXED = "algorithm.recompute_logprobs", "rollout.return_logprobs", "algorithm.importance_sampling_fix"
SHARDING, WHOLE = "actor.fsdp_config.sharding_strategy", ("full_shard", "shard_grad_op", "no_shard")
STAGES, VALUE_HEAD, PIPELINE = "rollout.pipeline_stage_num", "actor.model.add_value_head", "runner.use_training_pipeline"
REWARD_WORKERS = ("model", "api")


def _packs(facts: Mode) -> bool:
    """Return True for training jobs with packed processes: only these use an old policy."""
    return facts.placer in (Placer.MODEL_PARALLEL, Placer.MULTI_AGENT)


def _flag(facts: Facts, path: str, default: bool = False) -> bool | None:
    return facts.settings.flag(path, SETTING, default)


def _says(facts: Facts, path: str) -> bool:
    """Return True if the setting is written, so that the outcome is known."""
    return facts.settings.at(path) is not None


def _is_whole_fsdp(facts: Mode) -> bool | None:
    """Return True if FSDP 1 shards the trained model; FSDP 2 ignores the sharding strategy."""
    settings = facts.settings
    if facts.task.endswith("_eval") or not settings.has(SHARDING) or not facts.has("actor") or _flag(facts, "runner.only_eval"):
        return False
    version = settings.word("actor.fsdp_config.strategy", SETTING)
    return settings.word("actor.training_backend", SETTING) == FSDP and version is not None and version.lower() in ("", FSDP)


def _is_staged(key: str) -> Condition:
    """Return the condition that a flag of environments requires a single pipeline stage."""
    return lambda facts: bool(facts.phases) and facts.has("env") and facts.task != "offline" and bool(_flag(facts, key))


def _trains_embodied(facts: Mode) -> bool:
    return facts.task == "embodied" and "train" in facts.phases and not facts.notes.partial


def _has_value_head(written: bool) -> Condition:
    """Return the condition of a loss with a critic whose setting is (not) written."""

    def applies(facts: Mode) -> bool:
        if not _trains_embodied(facts) or not facts.settings.has("actor.model") or _says(facts, VALUE_HEAD) is not written:
            return False
        loss = facts.settings.word("algorithm.loss_type", SETTING)
        return loss == "actor_critic" or (loss == "decoupled_actor_critic" and not facts.until("0.2"))

    return applies


def _splits_experts(facts: Mode) -> bool:
    """Return True if Megatron, without its bridge, divides experts by a size of their own."""
    if not _says(facts, "actor.model.expert_tensor_parallel_size") or not _is_validated(facts):
        return False
    return facts.settings.word("actor.training_backend", DEGREE) == MEGATRON and _flag(facts, "actor.megatron.mbridge") is False


def _has_rewards(facts: Mode) -> bool | None:
    used = facts.has("env") and "train" in facts.phases and _flag(facts, "reward.use_reward_model")
    return bool(used) and _flag(facts, "reward.standalone_realworld") is False


def _serves_rewards(facts: Mode) -> bool | None:
    """Return True if RLinf itself starts the server of the reward model; None if unknown."""
    settings, base = facts.settings, "reward.api.api_base"
    if not _has_rewards(facts) or settings.word("reward.worker_type", SETTING) != "api":
        return False
    return None if settings.is_open(base, SETTING) else not (settings.word(base, SETTING) or "").strip()


def _is_grouped(facts: Mode) -> bool:
    kind, choice = facts.settings.word("algorithm.adv_type", DEMANDS), facts.notes.choice
    if kind not in GROUPED or not facts.task or facts.task.endswith("_eval"):
        return False
    if choice is not None and choice.until("0.3"):  # RLinf 0.1 and 0.2 check it for every job
        return kind != "grpo_dynamic" or choice.since("0.2")
    return facts.task != "sft" and _flag(facts, "runner.only_eval") is False


def _chunk(facts: Mode) -> Number | None:
    """Return the actions per chunk of the trained model, else of rollout's model."""
    trains = "train" in facts.phases or facts.task == "offline"
    return facts.number(f"{'actor' if trains else 'rollout'}.model.num_action_chunks", DEMANDS)


def _prompt(facts: Facts) -> Number | None:
    """Return one token more than the longest prompt."""
    longest = facts.number("data.max_prompt_length", DEMANDS)
    return longest and Number(longest.value + 1, longest.text, longest.amount)


def _samples(facts: Facts) -> Number | None:
    """Return the samples per step of a reasoning job."""
    prompts, group = (facts.number(path, DEMANDS) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    if prompts is None or group is None:
        return None
    samples = prompts.value * group.value
    noun = with_noun(samples, "sample")
    return Number(samples, noun, note=f"{noun}: `data.rollout_batch_size` x `algorithm.group_size`")


def _rollout_accelerators(facts: Mode) -> Number | None:
    count = facts.accelerators_of("rollout")
    return None if count is None else Number(count, f"the {with_noun(count, 'accelerator')} of rollout")


def _server(facts: Facts) -> Number | None:
    """Return the accelerators per server of an evaluation, out of those of rollout."""
    per_server = facts.settings.whole("rollout.sglang.server.num_gpus", DEGREE, 0, least=0)
    if per_server is None:
        return None
    if per_server.value:
        return Number(per_server.value, f"the {per_server.value} of a server", per_server)
    tp, pp = (facts.number(f"rollout.sglang.{key}", DEGREE) for key in ("tensor_parallel_size", "pipeline_parallel_size"))
    return Number(tp.value * pp.value, f"the {tp.value * pp.value} of a server", tp.amount) if tp and pp else None


def _is_validated(facts: Mode) -> bool:
    """Return True if `validate_cfg` checks the training backend; evaluations return earlier."""
    return bool(facts.task) and not facts.task.endswith("_eval") and facts.settings.at("actor.training_backend") is not None


_CONFIG = "RLinf, rlinf/config.py"

SETTINGS: tuple[tuple[str, tuple[Check, ...]], ...] = (
    ("runner", (
        AtLeast(
            code=DEMANDS, source=f"{_CONFIG}, validate_reasoning_cfg", when=CHECKED, left="runner.seq_length", right=_prompt, edits=False,
            message="{left} holds the prompt and the answer, so it must be greater than {right}", help="make it longer than the prompt",
            only_if=lambda facts: facts.task in (*REASONING, "reasoning_eval") and _says(facts, "data.max_prompt_length"),
        ),
    )),
    ("algorithm", (
        Requires(
            code="PW101", source=f"{_CONFIG}, validate_reasoning_cfg", key=AGAIN, help="write `algorithm: {recompute_logprobs: true}`, or `false`",
            only_if=lambda facts: _packs(facts) and not _says(facts, AGAIN),
            message=f"there is no `{AGAIN}`, which RLinf reads before anything else of the job",
        ),
        Requires(
            code=SETTING, source=f"{_CONFIG}, validate_coding_online_rl_cfg", key=AGAIN, value=True, message=f"online coding needs `{AGAIN}: true`",
            only_if=lambda facts: _packs(facts) and facts.task == "coding_online_rl" and _says(facts, AGAIN),
        ),
        Requires(
            code=SETTING, source=f"{_CONFIG}, validate_reasoning_cfg", key=AGAIN, value=True, help="set one of them to `true`",
            only_if=lambda facts: _packs(facts) and facts.task == "reasoning" and _says(facts, AGAIN) and _flag(facts, RETURNED) is False,
            message=f"neither `{AGAIN}` nor `{RETURNED}` is true", why="the old policy's probabilities are missing",
        ),
        Excludes(
            code=SETTING, source=f"{_CONFIG}, validate_reasoning_cfg of v0.2", keys=(AGAIN, RETURNED), releases=Range(until="0.3"),
            only_if=lambda facts: _packs(facts) and facts.task == "reasoning" and _flag(facts, FIXED) is False,
            message=f"`{AGAIN}` and `{RETURNED}` are both true", why=f"RLinf allows both only with `{FIXED}`",
        ),
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", when=CHECKED, releases=Range(since="0.3"), key="algorithm.adv_type",
            values=("gae",), message=f"`{PIPELINE}` needs `gae`, but {{left}} is `{{right}}`",
            only_if=lambda facts: _trains_embodied(facts) and _flag(facts, PIPELINE),
        ),
    )),
    ("actor", (
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_coding_online_rl_cfg", key="actor.training_backend", values=("megatron",),
            only_if=lambda facts: _packs(facts) and facts.task == "coding_online_rl",
            message="online coding trains with megatron alone, but {left} is `{right}`",
        ),
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_cfg (SUPPORTED_TRAINING_BACKENDS)", when=CHECKED, key="actor.training_backend",
            values=(MEGATRON, FSDP), only_if=lambda facts: facts.task != "coding_online_rl" and _is_validated(facts),
        ),
        OneOf(
            code=SETTING, source="RLinf, rlinf/hybrid_engines/fsdp/utils.py (create_device_mesh), strategy/fsdp.py (wrap_model)", when=LATE,
            key=SHARDING, values=WHOLE, renamed=(("hybrid_shard", WHOLE[0]),), only_if=_is_whole_fsdp,
            message="{left} is `{right}`, but RLinf gives FSDP one dimension of ranks, all of `actor`",
        ),
        *(
            Requires(
                code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", when=CHECKED, key=VALUE_HEAD, value=True, severity=severity,
                message=f"`algorithm.loss_type` has a critic, which needs `{VALUE_HEAD}: true`", only_if=_has_value_head(written),
            )
            for written, severity in ((True, Severity.ERROR), (False, Severity.WARNING))
        ),
        AtLeast(
            code=DEGREE, source=f"{_CONFIG}, validate_megatron_cfg", when=CHECKED, left="actor.model.tensor_model_parallel_size",
            right="actor.model.expert_tensor_parallel_size", edits=False,
            only_if=_splits_experts,
        ),
    )),
    ("rollout", (
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_rollout_cfg (SUPPORTED_ROLLOUT_BACKENDS)", when=CHECKED,
            key="rollout.rollout_backend", values=("sglang", "vllm"), only_if=lambda facts: facts.task in (*REASONING, "reasoning_eval"),
        ),
        Divides(
            code=DEGREE, source="RLinf, rlinf/workers/rollout/sglang_server/launcher.py; evaluations/eval_embodied_agent.py", when=LATE,
            releases=Range(since="0.3"), left=_rollout_accelerators, right=_server, change="right",
            only_if=lambda facts: facts.task == "embodied_eval" and facts.settings.word("rollout.rollout_backend", DEGREE) == "sglang",
        ),
        Equals(
            code=DEGREE, source="RLinf, examples/agent (the agents are as many as processes of rollout)", when=LATE,
            left="rollout.pipeline_parallel_size", right=1,
            only_if=lambda facts: facts.placer not in (Placer.HYBRID, Placer.MODEL_PARALLEL) and facts.has("rollout"),
            message="{left} must be 1 for RLinf's agents", why="rollout is packed by tp alone, and the agents need whole replicas",
        ),
        Equals(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="0.3"), left=STAGES, right=1,
            only_if=_is_staged("runner.enable_decoupled_mode"), message="`runner.enable_decoupled_mode` needs `rollout.pipeline_stage_num: 1`",
        ),
        Equals(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="0.3"), left=STAGES, right=1,
            only_if=_has_rewards, message="`reward.use_reward_model` needs `rollout.pipeline_stage_num: 1`",
        ),
        AtLeast(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="0.2"), when=CHECKED,
            left="runner.weight_sync_interval", right=1, only_if=lambda facts: facts.has("env") and facts.task.startswith("embodied"),
        ),
    )),
    ("env", (
        Requires(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", when=CHECKED, key="env.eval", message="there is no `env.eval` to evaluate in",
            help="add it, or write `runner.val_check_interval: -1`",
            only_if=lambda facts: facts.task != "offline" and "eval" in facts.phases and facts.settings.has("env") and not facts.notes.partial,
        ),
    )),
    ("reward", (
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="a3816b59"), when=CHECKED, key="reward.worker_type",
            values=REWARD_WORKERS,
            only_if=lambda facts: _has_rewards(facts) and (facts.settings.word("reward.worker_type", SETTING) or "").lower() not in REWARD_WORKERS,
        ),
        OneOf(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="a3816b59"), when=CHECKED, key="reward.model.model_type",
            values=("buffered_vlm",), message="`reward.worker_type: api` serves `buffered_vlm` alone, but {left} is `{right}`",
            only_if=lambda facts: _has_rewards(facts) and (facts.settings.word("reward.worker_type", SETTING) or "").lower() == "api",
        ),
        Requires(
            code=SETTING, source=f"{_CONFIG}, validate_embodied_cfg", releases=Range(since="a3816b59"), when=CHECKED,
            key="cluster.component_placement.reward_server", only_if=_serves_rewards,
            message="RLinf starts the server of the reward model, but `reward_server` is not placed",
            help="add a line for `reward_server`, or name a server in `reward.api.api_base`",
        ),
    )),
)  # fmt: skip

BATCHES: tuple[tuple[str, tuple[Check, ...]], ...] = (
    ("actor", (
        AtLeast(
            code=DEMANDS, source=f"{_CONFIG}, validate_cfg", when=CHECKED, left="algorithm.group_size", right=2, only_if=_is_grouped,
            message="`algorithm.adv_type` compares the samples of a group: {left} is too small",
        ),
        Divides(
            code=DEMANDS, source=f"{_CONFIG}, validate_reasoning_cfg", severity=Severity.WARNING, left=_samples,
            right="algorithm.n_minibatches", change="right", message=MULTIPLE, only_if=lambda facts: facts.task in REASONING and _says(facts, "algorithm.n_minibatches"),
        ),
    )),
    ("env", tuple(
        Divides(
            code=DEMANDS, source=f"{_CONFIG}, validate_embodied_cfg", when=CHECKED, left=f"env.{phase}.max_steps_per_rollout_epoch", right=_chunk,
            only_if=lambda facts, phase=phase: phase in facts.phases,  # type: ignore[misc]
        )
        for phase in ("train", "eval")
    )),
)  # fmt: skip


def check_settings(facts: Mode, checks: Iterable[tuple[str, tuple[Check, ...]]] = SETTINGS) -> None:
    """Run checks; their findings are about the component of their group."""
    for facts.subject, group in checks:
        run_checks(group, facts)
