"""How RLinf runs the models of a job, as far as its settings say it: for estimates of memory that ask for it.

Source: RLinf, rlinf/config.py (validate_cfg, validate_fsdp_cfg, validate_megatron_cfg), rlinf/workers/actor/{fsdp,megatron}_actor_worker.py,
rlinf/workers/rollout/{sglang,vllm} (offload_engine), rlinf/runners/reasoning_runner.py.
"""

from __future__ import annotations

from dataclasses import replace

from ....configuration.plainly import percent, plainly, whole_number
from ....estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, ZERO2, Estimate
from ....model_cards import ModelUse
from .shares import Work

HINTS = "placewright.components"
_SHARDINGS = {"full_shard": FSDP, "shard_grad_op": ZERO2, "no_shard": NONE}
_PATH = "rollout.model.model_path"


def runs(work: Work) -> None:
    """Adds to the models of the work how they are run, where the block of hints asks for an estimate."""
    for name in ("actor", "critic", "rollout"):
        if work.component(name) is None or work.settings.at(f"{HINTS}.{name}.estimate") is None:
            continue
        run = _served(work) if name == "rollout" else _trained(work, name)
        key = _PATH if plainly(work.settings, _PATH) else f"{name}.model.model_path"
        # What divides nothing has no model until now.
        use = work.models.get(name) or ModelUse(str(plainly(work.settings, key)), key, ())
        work.models[name] = replace(use, run=run)


def _served(work: Work) -> Estimate:
    """An engine takes its part of each accelerator, and gives it back when it has generated."""
    part = plainly(work.settings, "rollout.gpu_memory_utilization", 0.65)
    return Estimate(utilization=percent(part), sequence=_sequence(work), offload=True)


def _trained(work: Work, name: str) -> Estimate:
    settings = work.settings
    sequences = whole_number(plainly(settings, f"{name}.micro_batch_size"))
    sequences = sequences or whole_number(plainly(settings, "algorithm.training_batch_size_per_gpu")) or 1
    if plainly(settings, f"{name}.training_backend") == "megatron":
        away = all(plainly(settings, f"{name}.offload_{part}", False) is True for part in ("weight", "grad", "optimizer"))
        divided = plainly(settings, f"{name}.optim.use_distributed_optimizer", False) is True
        again = {"full": FULL, "selective": SELECTIVE}.get(str(plainly(settings, f"{name}.model.recompute_granularity")), NONE)
        return Estimate(
            sharding=DISTRIBUTED if divided else MEGATRON, recompute=again, sequence=_sequence(work), micro_batch=sequences, offload=away
        )  # fmt: skip
    strategy = str(plainly(settings, f"{name}.fsdp_config.sharding_strategy", "full_shard"))
    again = NONE if plainly(settings, f"{name}.fsdp_config.gradient_checkpointing", False) is False else FULL
    away = plainly(settings, f"{name}.enable_offload", False) is True
    adapters = plainly(settings, f"{name}.model.is_lora", False) is True
    return Estimate(
        lora_rank=whole_number(plainly(settings, f"{name}.model.lora_rank")) if adapters else 0,
        sharding=_SHARDINGS.get(strategy, FSDP), recompute=again, sequence=_sequence(work), micro_batch=sequences, offload=away,
    )  # fmt: skip


def _sequence(work: Work) -> int:
    """Tokens of the longest prompt with the longest answer."""
    return whole_number(plainly(work.settings, "runner.seq_length"))
