"""Degrees of parallelism by component, from strategy or engine, and their keys.

Source: verl, verl/workers/rollout/replica.py (RolloutReplica), llm_server.py
(_initialize_llm_servers), experimental/reward_loop/reward_model.py,
verl/workers/config/distillation.py, verl/workers/megatron_workers.py.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ...component import Parallel
from ...configuration.settings import Amount
from ...findings.span import Span
from ...pools import Pool
from ...text.tree import Scalar
from .configuration import Configuration
from .programs import ProgramKind, facts

DEGREES = "PW208"
Degrees = tuple[Parallel, dict[str, Amount]]
"""Degrees, and the settings that state them by degree."""
_FACTS: Mapping[str, Mapping[str, Any]] = facts("strategies")
OWNERS: Mapping[str, str] = _FACTS["owners"]
"""Component that trains, or runs like one -> section; in the order of worker creation."""
STRATEGIES: Mapping[str, Mapping[str, str]] = _FACTS["strategies"]
"""Strategy, also the section of the degrees -> keys of the degrees."""
TUNES = (ProgramKind.TUNING, ProgramKind.PROCESSES)
"""Programs that fine-tune, without roles."""
TUNERS: Mapping[str, Mapping[str, str]] = _FACTS["tuners"]
"""Engine for fine-tuning -> keys of the degrees in the section `engine`."""
ROLLOUT = "actor_rollout_ref.rollout"
PARTED = f"{ROLLOUT}.disaggregation.enabled"
APART, TEACHER = "standalone_rollout", "teacher"
"""Separate servers of the V1 trainer, and the teacher (of several `teacher_NAME`)."""
TEACHERS, SINGLE_TEACHER = "distillation.teacher_models", "teacher_model"


def is_teacher(name: str) -> bool:
    """Return True for a teacher of a distillation."""
    return name == TEACHER or name.startswith(f"{TEACHER}_")


def is_engine(settings: Configuration, name: str) -> bool:
    """Return True if an inference engine serves a component."""
    return name in ("rollout", APART) or is_teacher(name) or (name == "reward_model" and bool(settings.is_reward_served))


def engine_key(settings: Configuration, name: str) -> Callable[[str], str]:
    """Return a function from an engine's setting to the dotted path, for a served component."""
    if name == "reward_model":
        return lambda key: settings.reward_key(f"rollout.{key}")
    if is_teacher(name):
        teacher = name.removeprefix(f"{TEACHER}_") if name != TEACHER else SINGLE_TEACHER
        return lambda key: f"{TEACHERS}.{teacher}.inference.{key}"
    owner = "rollout" if settings.entry.kind is ProgramKind.GENERATION else ROLLOUT
    return lambda key: f"{owner}.{key}"


def engine_of(settings: Configuration, name: str) -> Degrees | None:
    """Return the engine degrees of a served component; None if unknown."""
    key = engine_key(settings, name)
    paths = {degree: key(setting) for degree, setting in _FACTS["served"].items()}
    if key("") == f"{ROLLOUT}." and settings.since("0.8.0") and settings.flag(PARTED, DEGREES):
        return None  # of several engines; see VerlWork.parts
    return _degrees(settings, paths, 2 if is_teacher(name) or name == "reward_model" else 1)


def read_trained_degrees(settings: Configuration, owner: str, section: str) -> Degrees | None:
    """Return the degrees of a trained component, none with FSDP; None if unknown."""
    strategy = settings.word(f"{owner}.strategy", DEGREES)
    if strategy is None:
        return None
    return _degrees(settings, {degree: f"{section}.{strategy}.{key}" for degree, key in STRATEGIES.get(strategy, {}).items()})


def tuner_of(settings: Configuration) -> str | None:
    """Return the engine that fine-tunes; "" if unsupported.

    None for a program without a section `engine`. Source: verl, verl/trainer/config/engine/,
    verl/workers/engine/*/transformer_impl.py.
    """
    if settings.entry.kind not in TUNES or settings.entry.configuration != "sft_trainer_engine":
        return None
    values = [setting.value for setting in settings.notes.document.settings if setting.key in ("engine", "engine@engine")]
    if values:
        name = values[-1].text if isinstance(values[-1], Scalar) and values[-1].text in TUNERS else ""
    else:
        name = _FACTS["tuner_classes"].get((settings.word("engine._target_", DEGREES) or "").rpartition(".")[2], "")
    return name if name != "fsdp" or settings.word("engine.strategy", DEGREES) in ("fsdp", "fsdp2") else ""


def is_counted(settings: Configuration) -> bool:
    """Return True if the number of processes is known; only a command tells torchrun's."""
    program = settings.notes.document.program
    return settings.entry.kind is not ProgramKind.PROCESSES or (program is not None and bool(program.name))


def section_of(pool: Pool | None, name: str) -> str:
    """Return the section of a component's Megatron degrees.

    All roles of a process have the process groups of its first role. The reference policy asks for
    the degrees of the actor itself. Source: verl, verl/workers/megatron_workers.py
    (ActorRolloutRefWorker.__init__, CriticWorker.__init__).
    """
    components = pool.components if pool else ()
    first = next((component for component in OWNERS if component in components), name) if name in components else name
    return OWNERS["actor" if first == "ref" else first]


def degrees_in(settings: Configuration, pool: Pool | None, name: str) -> Degrees | None:
    """Return the degrees of a component in a pool; None if unknown, or without any."""
    if is_engine(settings, name):
        return engine_of(settings, name)
    if settings.entry.kind in TUNES:
        keys = TUNERS.get(tuner_of(settings) or "") if is_counted(settings) else None
        return _degrees(settings, {degree: f"engine.{key}" for degree, key in keys.items()}) if keys else None
    return read_trained_degrees(settings, OWNERS[name], section_of(pool, name)) if name in OWNERS else None


def own_amounts(settings: Configuration, pools: Sequence[Pool], name: str) -> Mapping[str, Amount]:
    """Map degrees to settings; empty if another component owns the degrees."""
    degrees = degrees_in(settings, _pool_with(pools, name), name) if leader_of(settings, pools, name) is None else None
    return degrees[1] if degrees else {}


def leader_of(settings: Configuration, pools: Sequence[Pool], name: str) -> str | None:
    """Return the other component that owns a component's process groups of Megatron."""
    if name not in OWNERS or is_engine(settings, name):
        return None
    section = section_of(_pool_with(pools, name), name)
    degrees = read_trained_degrees(settings, OWNERS[name], section)
    leader = next(component for component, owner in OWNERS.items() if owner == section)
    return leader if leader != name and degrees is not None and degrees[1] else None


def _pool_with(pools: Sequence[Pool], name: str) -> Pool | None:
    return next((pool for pool in pools if name in pool.components), None)


def _degrees(settings: Configuration, paths: Mapping[str, str], tensor: int = 1) -> Degrees | None:
    amounts: dict[str, Amount] = {}
    for name, path in paths.items():
        amount = settings.whole(path, DEGREES, tensor if name == "tp" else 1)
        if amount is None:
            return None
        amounts[name] = amount
    return Parallel(**{name: amount.value for name, amount in amounts.items()}), amounts


def place_of(amounts: Mapping[str, Amount]) -> Span | None:
    """Return the span of the first degree above 1, else of the first degree."""
    with_span = [amount for amount in amounts.values() if amount.span is not None]
    return next((amount.span for amount in with_span if amount.value > 1), with_span[0].span if with_span else None)
