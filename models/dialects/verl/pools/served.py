"""Inference engines: which section configures the engine of a component, and the accelerators of one replica.

Source: verl, verl/workers/rollout/replica.py (RolloutReplica), llm_server.py (_initialize_llm_servers), experimental/reward_loop/
reward_model.py, verl/workers/config/distillation.py.
"""

from __future__ import annotations

from typing import Callable, Mapping

from ....component import Parallel
from ....configuration.settings import Amount
from ..components.parallel import is_served, owner_of
from ..configuration import Configuration
from ..entries import Entry
from ..releases import is_reward_always_served, reward_key, since, until

DEGREES = "PW208"
ROLLOUT = "actor_rollout_ref.rollout"
APART, TEACHER = "standalone_rollout", "teacher"
"""Servers of the V1 trainer in pools of their own; teachers of a distillation are `teacher`, or `teacher_NAME` of several."""
TEACHERS = "distillation.teacher_models"
SINGLE_TEACHER = "teacher_model"
KEYS = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "dp": "data_parallel_size", "ep": "expert_parallel_size",
}  # fmt: skip
PARTED = f"{ROLLOUT}.disaggregation"
Engine = tuple[Parallel, dict[str, Amount]]


def is_reward_served(settings: Configuration, entry: Entry) -> bool | None:
    """True if an inference engine serves the reward model; None if that is unknown."""
    if until(settings, "0.7.0"):
        return False  # workers alone serve it
    return True if is_reward_always_served(settings) else is_served(settings, entry)


def is_engine(settings: Configuration, entry: Entry, name: str) -> bool:
    """True if an inference engine serves a component."""
    return name in ("rollout", APART) or is_teacher(name) or (name == "reward_model" and bool(is_reward_served(settings, entry)))


def is_teacher(name: str) -> bool:
    """True for a component that is distilled from."""
    return name == TEACHER or name.startswith(f"{TEACHER}_")


def engine_key(settings: Configuration, entry: Entry, name: str) -> Callable[[str], str]:
    """Setting of an engine -> its dotted path, for a served component."""
    if name == "reward_model":
        return lambda key: reward_key(settings, f"rollout.{key}")
    if is_teacher(name):
        teacher = name.removeprefix(f"{TEACHER}_") if name != TEACHER else SINGLE_TEACHER
        return lambda key: f"{TEACHERS}.{teacher}.inference.{key}"
    owner = owner_of(entry)
    return lambda key: f"{owner}.{key}"


def engine_of(settings: Configuration, entry: Entry, name: str) -> Engine | None:
    """Degrees of the engine of a served component; None where they are unknown."""
    key = engine_key(settings, entry, name)
    found: dict[str, Amount] = {}
    for degree, setting in KEYS.items():
        amount = settings.whole(key(setting), DEGREES, 2 if degree == "tp" and (is_teacher(name) or name == "reward_model") else 1)
        if amount is None:
            return None
        found[degree] = amount
    parallel = Parallel(**{degree: amount.value for degree, amount in found.items()})
    if key("") == f"{ROLLOUT}." and (parted := parted_size(settings, found["tp"].value)):
        return Parallel(dp=parted * parallel.dp * parallel.pp, ep=parallel.ep), found
    return parallel, found


def parted_size(settings: Configuration, tensor: int) -> int:
    """Accelerators of a replica whose prefill and decode are apart; 0 where they are not.

    Source: verl, verl/workers/rollout/llm_server.py (_initialize_llm_servers), since 0.8.0.
    """
    if not since(settings, "0.8.0") or not settings.flag(f"{PARTED}.enabled", DEGREES):
        return 0
    prefill, decode = (settings.whole(f"{PARTED}.{key}", DEGREES, 1) for key in ("prefill_replicas", "decode_replicas"))
    key = f"{PARTED}.decode_tensor_model_parallel_size"
    own = settings.whole(key, DEGREES) if settings.said(key, DEGREES) else None
    if prefill is None or decode is None:
        return 0
    return tensor * prefill.value + (own.value if own else tensor) * decode.value


def written(amounts: Mapping[str, Amount]) -> Amount | None:
    """First degree above 1 that is written; None where there is none."""
    return next((amount for amount in amounts.values() if amount.value > 1 and amount.span), None)
