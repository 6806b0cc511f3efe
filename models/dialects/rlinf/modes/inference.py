"""Whether actor and rollout, once they are apart, need an inference component that is not placed, or settings that the file has not.

Source: RLinf, examples/reasoning (main_grpo.py), rlinf/workers/actor/fsdp_actor_worker.py and
rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from ....text.tree import Mapping
from .parts import Parts

CODE = "PW123"
NAMES = ("inference", "actor_inference")
_READ = (
    "group_name",
    "load_from_actor",
    *(f"model.{key}" for key in ("tensor_model_parallel_size", "pipeline_model_parallel_size", "sequence_parallel")),
)


def lacking(parts: Parts, auto: bool = False) -> str:
    """Who needs it, as the end of a sentence; "" if nobody does, it is placed, or this is not known. `auto`: in the auto mode."""
    settings = parts.settings
    again, fixed = settings.flag("algorithm.recompute_logprobs", CODE), settings.flag("algorithm.importance_sampling_fix", CODE)
    if again is None or fixed is None or settings.at("algorithm.recompute_logprobs") is None:
        return ""
    placed = parts.first_of(*NAMES)
    if placed or parts.notes.partial or not parts.has("actor") or not parts.has("rollout"):
        return ""
    if not auto and settings.word("actor.training_backend", CODE) == "fsdp":
        return "an fsdp actor that is apart from rollout needs it"
    return "`algorithm.recompute_logprobs` needs it where actor and rollout are apart" if again or fixed else ""


def unset(parts: Parts) -> list[str]:
    """What RLinf's programs read of the inference components that are placed and the file does not have: whole sections, or keys of them.

    Nothing where that is not known, or where the file is no whole job: without `rollout.group_name` no program starts anything.
    """
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name") or not settings.flag("algorithm.recompute_logprobs", CODE):
        return []
    found: list[str] = []
    for names, role in ((NAMES, "actor"), (("critic_inference",), "critic")):
        if parts.first_of(*names) is None:
            continue
        section = next((name for name in reversed(names) if settings.has(name)), names[0])
        keys = _READ if settings.word(f"{role}.training_backend", CODE) == "megatron" else _READ[:1]
        found += _unset(parts, section, keys)
        if section not in (names[0], *found):  # the programs name the group by this one all the same
            found += _unset(parts, names[0], _READ[:1])
    return found


def _unset(parts: Parts, section: str, keys: tuple[str, ...]) -> list[str]:
    """The section, if there is none; else its keys that are not there. What is no map is told elsewhere."""
    there = parts.settings.at(section)
    if there is None:
        return [section]
    if not isinstance(there, Mapping):
        return []
    return [f"{section}.{key}" for key in keys if not parts.settings.has(f"{section}.{key}")]
