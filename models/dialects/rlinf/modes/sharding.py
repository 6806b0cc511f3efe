"""How FSDP shards what trains: RLinf gives it one dimension of ranks, which not every way to shard goes with.

Source: RLinf, rlinf/config.py (validate_fsdp_cfg: without `strategy` it is `fsdp`), rlinf/hybrid_engines/fsdp/utils.py
(create_device_mesh, get_sharding_strategy) and strategy/fsdp.py (wrap_model); PyTorch, torch/distributed/fsdp/_init_utils.py
(_init_process_group_state_for_hybrid_shard, which demands two dimensions).
"""

from __future__ import annotations

from .parts import Parts
from .presence import LATE

CODE = "PW123"
STRATEGY, SHARDING = "actor.fsdp_config.strategy", "actor.fsdp_config.sharding_strategy"
HYBRID, WHOLE = "hybrid_shard", ("full_shard", "shard_grad_op", "no_shard")


def sharding(parts: Parts) -> None:
    """An error for a sharding that FSDP's first version cannot have in RLinf; the second, `fsdp2`, does not look at it."""
    settings = parts.settings
    kind = settings.word(SHARDING, CODE) if settings.has(SHARDING) and parts.has("actor") else None
    if kind is None or kind in WHOLE or settings.word("actor.training_backend", CODE) != "fsdp" or settings.flag("runner.only_eval", CODE):
        return
    if (version := settings.word(STRATEGY, CODE)) is None or version.lower() not in ("", "fsdp"):
        return
    listed = ", ".join(f"`{each}`" for each in WHOLE)
    if kind == HYBRID:
        message = f"`{SHARDING}: {HYBRID}` needs ranks in two dimensions, and RLinf gives FSDP one, of all ranks of `actor`; {LATE}"
    else:
        message = f"`{SHARDING}` is `{kind}`, which RLinf does not know; {LATE}"
    place = settings.at(SHARDING)
    parts.notes.error(CODE, "actor", message, place or parts.owner, "", f"write one of {listed}", settings.becomes(SHARDING, WHOLE[0]))
