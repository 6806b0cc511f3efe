"""Whether actor and rollout, once they are apart, need an inference component that is not placed.

Source: RLinf, examples/reasoning (main_grpo.py) and rlinf/workers/actor/fsdp_actor_worker.py.
"""

from __future__ import annotations

from .parts import Parts

CODE = "PW123"


def lacking(parts: Parts, auto: bool = False) -> str:
    """Who needs it, as the end of a sentence; "" if nobody does, it is placed, or this is not known. `auto`: in the auto mode."""
    settings = parts.settings
    again, fixed = settings.flag("algorithm.recompute_logprobs", CODE), settings.flag("algorithm.importance_sampling_fix", CODE)
    if again is None or fixed is None or settings.at("algorithm.recompute_logprobs") is None:
        return ""
    placed = parts.first_of("inference", "actor_inference")
    if placed or parts.notes.partial or not parts.has("actor") or not parts.has("rollout"):
        return ""
    if not auto and settings.word("actor.training_backend", CODE) == "fsdp":
        return "an fsdp actor that is apart from rollout needs it"
    return "`algorithm.recompute_logprobs` needs it where actor and rollout are apart" if again or fixed else ""
