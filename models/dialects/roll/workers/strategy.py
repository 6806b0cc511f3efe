"""The strategy of a role: how its workers train or infer."""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Settings
from ....text.nearest import nearest
from ....text.tree import Mapping, Scalar
from ..mapping.evaluate import AT_LOAD
from ..roles.known_keys import STRATEGY
from ..roles.parts import ACTOR_INFER
from ..roles.pipelines import Pipeline
from .blocks import Block

VLLM, SGLANG, HF_INFER = "vllm", "sglang", "hf_infer"
INFERENCE = (HF_INFER, VLLM, SGLANG)
"""Strategies whose workers may have several devices."""
GENERATING = (VLLM, SGLANG)
"""Strategies of `actor_infer`. Source: ROLL, roll/configs/base_config.py, BaseConfig.__post_init__."""
STRATEGIES = (*INFERENCE, "megatron_infer", "megatron_train", "fsdp2_train", "fsdp2_infer")
DEFAULT = "fsdp2_train"
"""Source: ROLL, roll/configs/worker_config.py, StrategyArguments."""

_REMOVED = {"deepspeed_train": "megatron_train", "deepspeed_infer": "megatron_infer"}
"""Strategies of earlier versions of ROLL, and what took their place."""


def read_strategy(notes: Notes, settings: Settings, block: Block, pipeline: Pipeline) -> str | None:
    """The name of the strategy; "" where the block has none, None where it is not known or ROLL refuses it."""
    path = f"{block.key}.{STRATEGY}"
    value = settings.at(path)
    if value is None:
        return ""
    if is_unknown(value):
        notes.unsure("PW111", block.key, f"`{path}` is not known here", True, f"Write `{STRATEGY}:` here")
        return None
    if not isinstance(value, Mapping):
        if isinstance(value, Scalar) and value.is_null and not pipeline.checks_types:
            return ""
        entry = block.mapping.entry(STRATEGY) if block.mapping else None
        edit = notes.removed(block.mapping, entry) if block.mapping and entry else None
        notes.wrong_type(block.key, path, value, "a map with `strategy_name`", f"remove `{STRATEGY}`, or write the map", edit)
        return None
    name = settings.at(f"{path}.strategy_name")
    if name is None:
        return DEFAULT
    if is_unknown(name):
        notes.unsure("PW111", block.key, f"`{path}.strategy_name` is not known here", True, f"Pass `--set {path}.strategy_name=VALUE`")
        return None
    if isinstance(name, Scalar) and name.value in STRATEGIES:
        if block.part == ACTOR_INFER and pipeline.ppo and name.value not in GENERATING:
            message = f"`{path}.strategy_name` is `{name.value}`, but ROLL generates with `{VLLM}` or `{SGLANG}` alone"
            help, edit = f"write `{VLLM}` or `{SGLANG}`", settings.becomes(f"{path}.strategy_name", VLLM)
            notes.error("PW123", block.key, message, name, "does not generate", help, edit, AT_LOAD)
        return str(name.value)
    written = str(name.value) if isinstance(name, Scalar) else ""
    better = _REMOVED.get(written) or nearest(written, STRATEGIES)
    message = f"`{path}.strategy_name` is `{written}`, which ROLL does not know" + " any more" * (written in _REMOVED)
    help = f"write `{better}`" if better else f"write one of {', '.join(f'`{each}`' for each in STRATEGIES)}"
    edit = settings.becomes(f"{path}.strategy_name", better) if better else None
    notes.error("PW105", block.key, message, name, "not a strategy", help, edit, AT_LOAD)
    return better or None
