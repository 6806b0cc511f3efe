"""Degrees of parallelism of each component, by its strategy or its engine, and the keys that state them.

Source: verl, verl/workers/rollout/replica.py (RolloutReplica), llm_server.py (_initialize_llm_servers),
experimental/reward_loop/reward_model.py, verl/workers/config/distillation.py, verl/workers/megatron_workers.py.
"""

from __future__ import annotations

from typing import Callable, Mapping, Sequence

from ...component import Parallel
from ...configuration.settings import Amount
from ...findings.span import Span
from ...pools.pool import Pool
from ...text.tree import Scalar
from .configuration import Configuration
from .programs import Kind
from .releases import is_reward_served, reward_key

DEGREES = "PW208"
Degrees = tuple[Parallel, dict[str, Amount]]
"""Degrees, and by their names the settings that state them."""
OWNERS = {
    "actor": "actor_rollout_ref.actor", "critic": "critic", "ref": "actor_rollout_ref.ref", "reward_model": "reward_model",
}  # fmt: skip
"""Component -> section of its settings, of those that are trained or run as a trained one; in the order in which their workers
are made in a process. Source: verl, verl/trainer/ppo/ray_trainer.py (init_workers)."""
_MEGATRON = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
}  # fmt: skip
_TITAN = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size", "cp": "context_parallel_size", "ep": "expert_parallel_size"}
STRATEGIES = {"megatron": _MEGATRON, "mindspeed": _MEGATRON, "torchtitan": _TITAN}
"""Strategy, which is also the section of its degrees -> the keys of these."""
TUNES = (Kind.TUNING, Kind.PROCESSES)
"""Programs that fine-tune, without roles."""
TUNERS: Mapping[str, Mapping[str, str]] = {
    "fsdp": {}, "veomni": {}, "megatron": _MEGATRON, "torchtitan": _TITAN,
    "automodel": {"tp": "tp_size", "pp": "pp_size", "cp": "cp_size", "ep": "ep_size"},
}  # fmt: skip
"""Engine that fine-tunes -> the keys of its degrees, in the section `engine`."""
_CLASSES = {
    "FSDPEngineConfig": "fsdp", "VeOmniEngineConfig": "veomni", "McoreEngineConfig": "megatron",
    "TorchtitanEngineConfig": "torchtitan", "AutomodelEngineConfig": "automodel",
}  # fmt: skip
_ENGINE = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size", "dp": "data_parallel_size",
    "ep": "expert_parallel_size",
}  # fmt: skip
ROLLOUT = "actor_rollout_ref.rollout"
PARTED = f"{ROLLOUT}.disaggregation"
APART, TEACHER = "standalone_rollout", "teacher"
"""Servers of the V1 trainer in pools of their own; teachers of a distillation are `teacher`, or `teacher_NAME` of several."""
TEACHERS, SINGLE_TEACHER = "distillation.teacher_models", "teacher_model"


def is_teacher(name: str) -> bool:
    """True for a component that is distilled from."""
    return name == TEACHER or name.startswith(f"{TEACHER}_")


def is_engine(settings: Configuration, name: str) -> bool:
    """True if an inference engine serves a component."""
    return name in ("rollout", APART) or is_teacher(name) or (name == "reward_model" and bool(is_reward_served(settings)))


def engine_key(settings: Configuration, name: str) -> Callable[[str], str]:
    """Setting of an engine -> its dotted path, for a served component."""
    if name == "reward_model":
        return lambda key: reward_key(settings, f"rollout.{key}")
    if is_teacher(name):
        teacher = name.removeprefix(f"{TEACHER}_") if name != TEACHER else SINGLE_TEACHER
        return lambda key: f"{TEACHERS}.{teacher}.inference.{key}"
    owner = "rollout" if settings.entry.kind is Kind.GENERATION else ROLLOUT
    return lambda key: f"{owner}.{key}"


def engine_of(settings: Configuration, name: str) -> Degrees | None:
    """Degrees of the engine of a served component; None if unknown."""
    key = engine_key(settings, name)
    paths = {degree: key(setting) for degree, setting in _ENGINE.items()}
    found = _degrees(settings, paths, 2 if is_teacher(name) or name == "reward_model" else 1)
    if found is not None and key("") == f"{ROLLOUT}." and (parted := parted_size(settings, found[0].tp)):
        return Parallel(dp=parted * found[0].dp * found[0].pp, ep=found[0].ep), found[1]
    return found


def parted_size(settings: Configuration, tensor: int) -> int:
    """Accelerators of a replica whose prefill and decode are apart; 0 where they are not.

    Source: verl, verl/workers/rollout/llm_server.py (_initialize_llm_servers), since 0.8.0.
    """
    if not settings.since("0.8.0") or not settings.flag(f"{PARTED}.enabled", DEGREES):
        return 0
    prefill, decode = (settings.whole(f"{PARTED}.{key}", DEGREES, 1) for key in ("prefill_replicas", "decode_replicas"))
    key = f"{PARTED}.decode_tensor_model_parallel_size"
    own = settings.whole(key, DEGREES) if settings.said(key, DEGREES) else None
    return tensor * prefill.value + (own.value if own else tensor) * decode.value if prefill and decode else 0


def trained(settings: Configuration, owner: str, section: str) -> Degrees | None:
    """Degrees of something that is trained: those of Megatron, none with FSDP; None if unknown.

    `section` is where those of Megatron stand, see `section_of`.
    """
    strategy = settings.word(f"{owner}.strategy", DEGREES)
    if strategy is None:
        return None
    keys = STRATEGIES.get(strategy, {})
    return _degrees(settings, {degree: f"{section}.{strategy}.{key}" for degree, key in keys.items()})


def tuner_of(settings: Configuration) -> str | None:
    """Engine that fine-tunes; None for a program that has no section `engine`, "" for an engine that is not read.

    Source: verl, verl/trainer/config/engine/, verl/workers/engine/*/transformer_impl.py.
    """
    if settings.entry.kind not in TUNES or settings.entry.configuration != "sft_trainer_engine":
        return None
    chosen = [each.value for each in settings.notes.document.settings if each.key in ("engine", "engine@engine")]
    if chosen:
        name = chosen[-1].text if isinstance(chosen[-1], Scalar) and chosen[-1].text in TUNERS else ""
    else:
        name = _CLASSES.get((settings.word("engine._target_", DEGREES) or "").rpartition(".")[2], "")
    return name if name != "fsdp" or settings.word("engine.strategy", DEGREES) in ("fsdp", "fsdp2") else ""


def is_counted(settings: Configuration) -> bool:
    """True if the number of processes is known: Ray makes them of the settings, torchrun is told apart."""
    program = settings.notes.document.program
    return settings.entry.kind is not Kind.PROCESSES or (program is not None and bool(program.name))


def section_of(components: Sequence[str], name: str) -> str:
    """Section whose degrees Megatron's process groups have: all roles of a process have those of its first.

    The reference policy asks for those of the actor itself. `components` run on one pool.
    Source: verl, verl/workers/megatron_workers.py (ActorRolloutRefWorker.__init__, CriticWorker.__init__).
    """
    first = next((each for each in OWNERS if each in components), name) if name in components else name
    return OWNERS["actor" if first == "ref" else first]


def degrees_in(settings: Configuration, pool: Pool | None, name: str) -> Degrees | None:
    """Degrees of a component of a pool; None if they are unknown, or it has none."""
    if is_engine(settings, name):
        return engine_of(settings, name)
    if settings.entry.kind in TUNES:
        keys = TUNERS.get(tuner_of(settings) or "") if is_counted(settings) else None
        return _degrees(settings, {degree: f"engine.{key}" for degree, key in keys.items()}) if keys else None
    return trained(settings, OWNERS[name], section_of(pool.components if pool else (), name)) if name in OWNERS else None


def own_amounts(settings: Configuration, pools: Sequence[Pool], name: str) -> Mapping[str, Amount]:
    """Degree -> its setting; none for a component whose degrees are another's, or that has none."""
    pool = next((each for each in pools if name in each.components), None)
    if leader_of(settings, pools, name) is not None:
        return {}
    found = degrees_in(settings, pool, name)
    return found[1] if found else {}


def leader_of(settings: Configuration, pools: Sequence[Pool], name: str) -> str | None:
    """Component whose degrees another one of its processes has, as Megatron's groups are theirs together; None for its own."""
    if name not in OWNERS or is_engine(settings, name):
        return None
    pool = next((each for each in pools if name in each.components), None)
    section = section_of(pool.components if pool else (), name)
    found = trained(settings, OWNERS[name], section)
    leader = next(each for each, owner in OWNERS.items() if owner == section)
    return leader if leader != name and found is not None and found[1] else None


def _degrees(settings: Configuration, paths: Mapping[str, str], tensor: int = 1) -> Degrees | None:
    found: dict[str, Amount] = {}
    for name, path in paths.items():
        amount = settings.whole(path, DEGREES, tensor if name == "tp" else 1)
        if amount is None:
            return None
        found[name] = amount
    return Parallel(**{name: amount.value for name, amount in found.items()}), found


def place_of(amounts: Mapping[str, Amount]) -> Span | None:
    """Where the degrees are written: the first that is and is not 1, else the first that is."""
    written = [amount for amount in amounts.values() if amount.span is not None]
    return next((amount.span for amount in written if amount.value > 1), written[0].span if written else None)
