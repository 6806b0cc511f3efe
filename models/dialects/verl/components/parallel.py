"""The degrees of parallelism of each component, as its strategy or its engine takes them."""

from __future__ import annotations

from typing import Mapping, Sequence

from ....component import Parallel
from ....configuration.settings import Amount
from ....findings.span import Span
from ..configuration import Configuration
from ..entries import Entry, Kind

DEGREES = "PW208"
OWNERS = {"actor": "actor_rollout_ref.actor", "critic": "critic", "ref": "actor_rollout_ref.ref", "reward_model": "reward_model"}
"""Component -> the section of its settings, for those that are trained or run as a trained one does; in the order in which their workers
are made in a process. Source: verl, verl/trainer/ppo/ray_trainer.py (init_workers)."""
_MEGATRON = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "cp": "context_parallel_size", "ep": "expert_model_parallel_size",
}  # fmt: skip
_TITAN = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size", "cp": "context_parallel_size", "ep": "expert_parallel_size"}
STRATEGIES = {"megatron": _MEGATRON, "mindspeed": _MEGATRON, "torchtitan": _TITAN}
"""Strategy, which is also the section of its degrees -> the keys of these."""
_ENGINE = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "dp": "data_parallel_size", "ep": "expert_parallel_size",
}  # fmt: skip


def trained(settings: Configuration, owner: str, section: str) -> tuple[Parallel, dict[str, Amount]] | None:
    """The degrees of something that is trained: those of Megatron, none with FSDP. None where they are not known.

    `section` is where those of Megatron are said, see `section_of`.
    """
    strategy = settings.word(f"{owner}.strategy", DEGREES)
    if strategy is None:
        return None
    known = STRATEGIES.get(strategy)
    return _degrees(settings, f"{section}.{strategy}", known) if known else (Parallel(), {})


def section_of(components: Sequence[str], parts: Mapping[str, tuple[int, int]], name: str) -> str:
    """The section whose degrees Megatron's process groups have: all roles of a process have those of its first.

    The reference policy asks for those of the actor itself. `components` run on one pool, `parts` of it where they say so.
    Source: verl, verl/workers/megatron_workers.py (ActorRolloutRefWorker.__init__, CriticWorker.__init__).
    """
    together = [each for each in OWNERS if each in components and parts.get(each) == parts.get(name)]
    first = together[0] if name in together else name
    return OWNERS["actor" if first == "ref" else first]


def is_served(settings: Configuration, entry: Entry) -> bool | None:
    """Is the reward model served by an inference engine? Trainers with two pools make a worker of it in any case."""
    return False if entry.kind is Kind.SEPARATE else settings.flag("reward_model.use_reward_loop", DEGREES)


def owner_of(entry: Entry) -> str:
    """Below which key the settings of rollout stand."""
    return "rollout" if entry.kind is Kind.GENERATION else "actor_rollout_ref.rollout"


def engine(settings: Configuration, owner: str = "actor_rollout_ref.rollout") -> tuple[Parallel, dict[str, Amount]] | None:
    """The degrees of an inference engine; None where they are not known."""
    return _degrees(settings, owner, _ENGINE)


def _degrees(settings: Configuration, owner: str, keys: Mapping[str, str]) -> tuple[Parallel, dict[str, Amount]] | None:
    found: dict[str, Amount] = {}
    for name, key in keys.items():
        amount = settings.whole(f"{owner}.{key}", DEGREES, 1)
        if amount is None:
            return None
        found[name] = amount
    return Parallel(**{name: amount.value for name, amount in found.items()}), found


def place_of(amounts: Mapping[str, Amount]) -> Span | None:
    """Where the degrees are written: the first that is and is not 1, else the first that is."""
    written = [amount for amount in amounts.values() if amount.span is not None]
    return next((amount.span for amount in written if amount.value > 1), written[0].span if written else None)
