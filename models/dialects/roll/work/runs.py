"""How ROLL runs the models of its roles, as far as its settings say it: for estimates of memory that ask for it.

Source: ROLL, roll/configs/worker_config.py and training_args.py, roll/distributed/strategy/{megatron,fsdp2,vllm,sglang}_strategy.py,
roll/pipeline/base_worker.py (state_offload_manger: every role leaves its accelerators when it has worked).
"""

from __future__ import annotations

from ....configuration.plainly import percent, plainly, whole_number
from ....estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, Estimate
from ..modes.degrees import FSDP2, SGLANG, VLLM
from ..modes.degrees import MEGATRON as ROLL_MEGATRON
from ..roles.role import Role
from ..roles.setup import Setup

HINTS = "placewright.components"
_PRECISIONS = ("bf16", "fp16", "fp32")


def is_asked(setup: Setup, role: Role) -> bool:
    """Does the block of hints ask for an estimate of a role's memory?"""
    return setup.settings.at(f"{HINTS}.{role.key}.estimate") is not None


def run_of(setup: Setup, role: Role) -> Estimate | None:
    """How a role is run; None where nobody asks."""
    if not is_asked(setup, role):
        return None
    settings = setup.settings
    parts = [whole_number(plainly(settings, f"{part}_length")) for part in ("prompt", "response")]
    sequence = whole_number(plainly(settings, "sequence_length")) or (sum(parts) if all(parts) else 0)
    precision = str(plainly(settings, role.path("model_args.dtype"), "bf16"))
    precision = precision if precision in _PRECISIONS else "bf16"
    if role.strategy in (VLLM, SGLANG):
        part = plainly(settings, role.config("gpu_memory_utilization" if role.strategy == VLLM else "mem_fraction_static"))
        return Estimate(precision=precision, utilization=percent(part), sequence=sequence, offload=True)
    trains = str(role.strategy).endswith("_train")
    key = role.path("training_args.per_device_train_batch_size") if trains else role.path("infer_batch_size")
    sharding, again = _divided(setup, role)
    shards = whole_number(plainly(settings, role.config("fsdp_size"))) if sharding == FSDP else 0
    rank = 0
    if trains and plainly(settings, role.path("model_args.lora_target")):
        rank = whole_number(plainly(settings, role.path("model_args.lora_rank"), 8))
    return Estimate(
        lora_rank=rank, precision=precision, sharding=sharding, shards=shards if shards > 1 else 0, recompute=again, sequence=sequence, micro_batch=whole_number(plainly(settings, key)) or 1,
        offload=True,
    )  # fmt: skip


def _divided(setup: Setup, role: Role) -> tuple[str, str]:
    """(what data parallel ranks divide, what is computed again)."""
    settings, strategy = setup.settings, str(role.strategy)
    kept = plainly(settings, role.path("model_args.disable_gradient_checkpointing"), False) is True
    if strategy in ROLL_MEGATRON:
        granularity = str(plainly(settings, role.config("recompute_granularity")))
        divided = plainly(settings, role.config("use_distributed_optimizer"), False) is True
        return DISTRIBUTED if divided else MEGATRON, {"full": FULL, "selective": SELECTIVE}.get(granularity, NONE)
    return FSDP if strategy in FSDP2 else NONE, NONE if kept else FULL
