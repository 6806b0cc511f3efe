"""How verl runs the models of a job, as far as its settings say it: for estimates of memory that ask for it.

Source: verl, verl/trainer/config/{actor,critic,ref,rollout,model,engine,data}/*.yaml and verl/workers/fsdp_workers.py.
"""

from __future__ import annotations

from ....configuration.plainly import percent, plainly, whole_number
from ....estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, Estimate
from ..components.parallel import OWNERS
from .work import Work

HINTS = "placewright.components"
_ACTOR, _ROLLOUT, _ULYSSES = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "ulysses_sequence_parallel_size"
_PRECISIONS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def run_of(work: Work, name: str) -> Estimate | None:
    """How a component is run; None where nobody asks for an estimate of its memory."""
    if work.settings.at(f"{HINTS}.{name}.estimate") is None:
        return None
    if name == "rollout":
        return _served(work)
    owner = OWNERS.get(name)
    strategy = _strategy(work, owner) if owner else ""
    if strategy in ("fsdp", "fsdp2"):
        return _fsdp(work, name, str(owner))
    return _megatron(work, name, str(owner)) if strategy == "megatron" else None


def _served(work: Work) -> Estimate:
    """An engine takes its part of each accelerator, and gives it back while others work, but where that is switched off."""
    settings = work.settings
    return Estimate(
        precision=_PRECISIONS.get(str(plainly(settings, f"{_ROLLOUT}.dtype", "bfloat16")), "bf16"),
        utilization=percent(plainly(settings, f"{_ROLLOUT}.gpu_memory_utilization", 0.5)),
        sequence=_sequence(work),
        offload=plainly(settings, f"{_ROLLOUT}.free_cache_engine", True) is True,
    )


def _fsdp(work: Work, name: str, owner: str) -> Estimate:
    engine = f"{owner}.model.fsdp_config" if name in ("critic", "reward_model") else f"{owner}.fsdp_config"
    model = "critic.model" if name == "critic" else "actor_rollout_ref.model"
    again = plainly(work.settings, f"{model}.enable_gradient_checkpointing", True)
    parts = ("param_offload", "optimizer_offload") if name in ("actor", "critic") else ("param_offload",)
    away = all(plainly(work.settings, f"{engine}.{part}", False) is True for part in parts)
    sequence, sequences = _batch(work, name, owner)
    shards = whole_number(plainly(work.settings, f"{engine}.fsdp_size", -1))
    rank = whole_number(plainly(work.settings, f"{model}.lora_rank", 0)) if name in ("actor", "critic") else 0
    return Estimate(
        lora_rank=rank,
        sharding=FSDP,
        shards=shards,
        recompute=NONE if again is False else FULL,
        offload=away,
        sequence=sequence,
        micro_batch=sequences,
    )


def _megatron(work: Work, name: str, owner: str) -> Estimate:
    settings, engine = work.settings, f"{owner}.megatron"
    granularity = plainly(settings, f"{engine}.override_transformer_config.recompute_granularity", "")
    divided = plainly(settings, f"{engine}.use_distributed_optimizer", True)
    parts = ("param_offload", "grad_offload", "optimizer_offload") if name in ("actor", "critic") else ("param_offload",)
    away = all(plainly(settings, f"{engine}.{part}", False) is True for part in parts)
    sequence, sequences = _batch(work, name, owner)
    return Estimate(
        sharding=DISTRIBUTED if divided else MEGATRON,
        recompute={"full": FULL, "selective": SELECTIVE}.get(str(granularity), NONE),
        offload=away,
        sequence=sequence,
        micro_batch=sequences,
    )


def _sequence(work: Work) -> int:
    """Tokens of the longest prompt and the longest answer."""
    parts = [whole_number(plainly(work.settings, f"data.max_{part}_length", 512)) for part in ("prompt", "response")]
    return sum(parts) if all(parts) else 0


def _batch(work: Work, name: str, owner: str) -> tuple[int, int]:
    """(tokens of a sequence on one rank, sequences of a micro batch); a batch of changing size counts as one sequence of as many as fit."""
    kind = "ppo" if name in ("actor", "critic") else "log_prob"
    dynamic = f"{owner}.use_dynamic_bsz" if kind == "ppo" else f"{owner}.log_prob_use_dynamic_bsz"
    if plainly(work.settings, dynamic, plainly(work.settings, f"{_ACTOR}.use_dynamic_bsz", False)) is True:
        most = 32_768 if name == "critic" else plainly(work.settings, f"{_ACTOR}.ppo_max_token_len_per_gpu", 16_384)
        return whole_number(plainly(work.settings, f"{owner}.{kind}_max_token_len_per_gpu", most)), 1
    slices = _slices(work, owner)
    return -(-_sequence(work) // slices), whole_number(plainly(work.settings, f"{owner}.{kind}_micro_batch_size_per_gpu")) or 1


def _slices(work: Work, owner: str) -> int:
    """Among how many ranks Ulysses divides each sequence, with FSDP. What a rank may have of a batch of changing size is its own share.

    Source: verl, verl/workers/actor/dp_actor.py (ulysses_pad_and_slice_inputs).
    """
    if _strategy(work, owner) == "megatron":
        return 1
    usual = plainly(work.settings, f"{_ACTOR}.{_ULYSSES}", 1) if owner == OWNERS["ref"] else 1
    return max(1, whole_number(plainly(work.settings, f"{owner}.{_ULYSSES}", usual)))


def _strategy(work: Work, owner: str) -> str:
    """What trains it or runs it; the reference policy has that of the actor where nobody says another one (ref.yaml)."""
    usual = plainly(work.settings, f"{_ACTOR}.strategy", "fsdp") if owner == OWNERS["ref"] else "fsdp"
    return str(plainly(work.settings, f"{owner}.strategy", usual))
