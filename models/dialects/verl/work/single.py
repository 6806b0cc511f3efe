"""Single settings that verl refuses on any machines: words, samplers, adapters, temperatures.

Source: verl, verl/utils/config.py (validate_config), until 0.6.0 trainer/ppo/ray_trainer.py
(_validate_config); verl/workers/config/actor.py; verl/trainer/ppo/v1/trainer_base.py
(_resolve_filter_groups_metric), replay_buffer.py (ReplayBuffer.__init__);
verl/trainer/main_generation.py and main_generation_server.py (main).
"""

from __future__ import annotations

from typing import Any

from ....findings.finding import Severity
from ....releases.release import Range
from ...checks import AtLeast, Check, Equals, Number, OneOf, Requires
from ..programs import TRAINERS, ProgramKind
from .work import (
    ACTOR,
    AFTER_WEIGHTS,
    AT_START,
    BEFORE_WORKERS,
    FIRST_STEP,
    MODE,
    NUMBERS,
    ROLLOUT,
    WITH_TRAINER,
    VerlWork,
)

VALIDATED = "verl, verl/utils/config.py (validate_config)"
SAMPLER, GROUPS = "trainer.v1.sampler", "algorithm.filter_groups"
BUFFER = "verl, verl/trainer/ppo/v1/replay_buffer.py"
MOST_RANKS = 512
"""Largest rank of an adapter in vLLM. Source: verl, vllm_rollout/utils.py."""


def _is_cold(facts: Any, key: str = f"{ROLLOUT}.temperature") -> bool:
    value = facts.settings.plain(key, 1.0)
    return isinstance(value, (int, float)) and value <= 0


CHECKED: tuple[Check, ...] = (
    Requires(code=MODE, source=VALIDATED, key=f"{ROLLOUT}.val_kwargs.do_sample", value=False, only_if=_is_cold, when=AT_START,
             message=f"validation samples, but `{ROLLOUT}.temperature` is not above 0"),
    AtLeast(code=MODE, source=VALIDATED, left=Number(MOST_RANKS, str(MOST_RANKS)), releases=Range("0.6.1"), when=AT_START,
            right=lambda facts: facts.of(facts.settings.adapter_rank), help=f"set a rank of {MOST_RANKS} or less",
            only_if=lambda facts: facts.settings.word(f"{ROLLOUT}.name", MODE) == "vllm" and not facts.settings.flag(
                "actor_rollout_ref.model.lora.merge", MODE),
            message="vLLM takes adapters of rank {left} at most, but {right}"),
    Requires(code=MODE, source="verl, verl/workers/rollout/llm_server.py", key=f"{ROLLOUT}.disable_log_stats", value=False,
             releases=Range("0.7.0"), only_if=lambda facts: facts.settings.flag(f"{ROLLOUT}.prometheus.enable", MODE) is True, when=AFTER_WEIGHTS,
             message="Prometheus gets no statistics of the engines: verl raises a ValueError"),
)  # fmt: skip
"""Checks of every program that validates its configuration at the start."""
SAMPLED: tuple[Check, ...] = (
    AtLeast(code=NUMBERS, source=BUFFER, left=f"{SAMPLER}.max_off_policy_threshold", right=1, when=WITH_TRAINER),
    OneOf(code=MODE, source=BUFFER, key=f"{SAMPLER}.max_off_policy_strategy", values=("drop", "wait"), when=WITH_TRAINER),
)
FILTERED: tuple[Check, ...] = (
    Requires(code=MODE, source=BUFFER, key=f"{GROUPS}.metric", when=WITH_TRAINER, help=f"set `{GROUPS}.metric=acc`, or another metric",
             message=f"`{GROUPS}.enable` needs `{GROUPS}.metric`"),
    Requires(code=MODE, source=BUFFER, key="reward.reward_model.enable_resource_pool", value=True, when=WITH_TRAINER,
             only_if=lambda facts: facts.settings.has_reward_model is True,
             message="groups are filtered before a colocated reward model scores them: it needs a pool of its own"),
)  # fmt: skip


def judge_single(work: VerlWork) -> None:
    """Check single settings of the program."""
    settings, kind = work.settings, work.entry.kind
    if kind in TRAINERS and not work.entry.own_trainer:
        severity = Severity.ERROR if settings.until("0.6.0") else Severity.WARNING  # later ones may be registered by code
        message = "{left} is `{right}`, which no estimator of verl is named"
        when = WITH_TRAINER if settings.until("0.6.0") else FIRST_STEP
        work.check("actor", OneOf(code=MODE, source="verl, verl/trainer/ppo/core_algos.py", key="algorithm.adv_estimator",
                                  values=settings.words("estimators"), severity=severity, message=message, when=when))  # fmt: skip
    if work.is_checked_at_start:
        losses, key = settings.words("losses"), f"{ACTOR}.loss_agg_mode"
        work.check("rollout", *CHECKED)
        work.check("actor", OneOf(code=MODE, source=VALIDATED, key=key, values=losses, releases=Range("0.4.0"), when=AT_START))
    if settings.is_v1 and not settings.has(f"{SAMPLER}.custom_sampler.path"):
        work.check("actor", *SAMPLED, *(FILTERED if settings.flag(f"{GROUPS}.enable", MODE) else ()))
    for program, samples, owner in ((ProgramKind.SERVER, f"{ROLLOUT}.n", ROLLOUT), (ProgramKind.GENERATION, "data.n_samples", "rollout")):
        if kind is program and _is_cold(work, f"{owner}.temperature"):
            message = "{left}, but at `temperature` 0 it must be 1"
            work.check("rollout", Equals(code=NUMBERS, source="verl, verl/trainer/main_generation.py (main)", left=samples, right=1,
                                         message=message, when=BEFORE_WORKERS))  # fmt: skip
