"""Settings that RLinf's trainers refuse where actor and rollout are apart, so that they train on what comes as it comes.

Source: RLinf, rlinf/workers/megatron_worker.py (MegatronWorker.__init__) and rlinf/workers/actor/fsdp_actor_worker.py (FSDPActor.__init__).
"""

from __future__ import annotations

from .parts import Parts

CODE = "PW123"
DYNAMIC, BALANCE = "runner.enable_dynamic_batch_size", "enable_dp_load_balance"


def refused(parts: Parts, auto: bool = False) -> list[str]:
    """The settings that are on and must not be. `auto`: in the auto mode, which for fsdp is none of this."""
    settings = parts.settings
    roles = ["actor"] if parts.has("actor") else []
    roles += ["critic"] if parts.has("critic") and settings.flag("critic.use_critic_model", CODE) else []
    found: list[str] = []
    for role in roles:
        backend = settings.word(f"{role}.training_backend", CODE)
        if backend == "megatron" or (backend == "fsdp" and role == "actor" and not auto):
            found += [path for path in (DYNAMIC, f"{role}.{BALANCE}") if path not in found and settings.flag(path, CODE)]
    return found
