"""The agentic pipeline's `partial_gpu_mode`: a part of `actor_infer` goes on generating while the rest of its GPUs train.

Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (AgenticPipeline._validate_partial_gpu_config, run);
roll/distributed/scheduler/router.py (shrink_workers, expand_workers).
"""

from __future__ import annotations

from ....component import COLOCATED, Relation
from ....findings.span import Edit
from ....findings.wording import with_noun
from ....ranks import write_ranks
from ..mapping.ids import Ids
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, AGENTIC_REWARD, CRITICS, REFERENCES
from ..roles.role import Role
from ..roles.setup import Setup
from .asynchronous import RATIO, ratio
from .degrees import VLLM
from .freed import freed
from .notices import AFTER_MODELS
from .numbers import number, shown
from .opened import CODE, MODE, REASON, critics, opened
from .pairing import common

OFF = f"`{MODE}: false` turns this check off"


def partial_gpu(setup: Setup) -> None:
    """All that the mode checks, for given ids; relations for those that are left to solve."""
    if not setup.pipeline.agentic or not setup.pipeline.updates_models or not setup.settings.flag(MODE, CODE, True):
        return
    train, infer = setup.role(ACTOR_TRAIN), setup.role(ACTOR_INFER)
    if train is None or infer is None:
        return
    _references(setup, train)
    if train.ids is None or infer.ids is None:
        opened(setup, train, infer)
    elif train.ids.count and infer.ids.count and common(train.ids, infer.ids):
        if train.ids.distinct < infer.ids.distinct and len(common(train.ids, infer.ids)) and _within(train.ids, infer.ids):
            _partial(setup, train, infer, train.ids, infer.ids)
        else:
            _colocated(setup, train, infer, train.ids, infer.ids)


def _within(inner: Ids, outer: Ids) -> bool:
    return sum(map(len, common(inner, outer))) == inner.distinct


def _references(setup: Setup, train: Role) -> None:
    """The reference is where training is; several teachers need not be."""
    references = list(setup.all(REFERENCES))
    if len(references) == 1 and references[0].key in setup.components:
        span = setup.components[references[0].key].spans.get("placement")
        setup.relations.append(Relation(COLOCATED, (references[0].key, train.key), span, REASON))
    _teachers(setup, train, references)
    if references or not _adapters_with_reference(setup):
        return
    message = f"`{train.key}.model_args.lora_target` is set, so ROLL starts no reference, but `{MODE}` wants one on the GPUs of {train.key}"
    at = setup.settings.at(f"{train.key}.model_args.lora_target") or train.span
    help = f"write `{MODE}: false`, or turn the reference off with `init_kl_coef: 0` and without `use_kl_loss` and `enable_reference`"
    setup.notes.error(CODE, REFERENCES, message, at, "no reference", help, setup.settings.becomes(MODE, "false"), AFTER_MODELS)


def _teachers(setup: Setup, train: Role, references: list[Role]) -> None:
    """Several teachers together hold what training holds; ROLL only warns if they do not."""
    held = [role.ids for role in references if role.ids is not None]
    together = Ids(tuple(part for ids in held for part in ids.parts))
    if train.ids is not None and 1 < len(references) == len(held) and together.ranges != train.ids.ranges:
        message = f"the {len(held)} teachers hold {write_ranks(together.ranges)}, but {train.key} {write_ranks(train.ids.ranges)}: they do not take turns"
        help = f"give the teachers together the GPUs of {train.key}"
        why = "ROLL warns of it after all models are loaded"
        setup.notes.warn(CODE, references[0].key, message, references[0].place, "", help, None, why)


def _adapters_with_reference(setup: Setup) -> bool:
    """Is a reference switched on that is not started because the actor trains adapters alone?"""
    settings, train = setup.settings, setup.role(ACTOR_TRAIN)
    if train is None or not settings.has(train.path("model_args.lora_target")):
        return False
    flags = [settings.flag(key, CODE) for key in ("enable_reference", "use_kl_loss", "use_opd")]
    return any(flags) or setup.pipeline.pure_opd or (number(settings, "init_kl_coef", CODE, 0.2) or 0) > 0


def _partial(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> None:
    """Training lies within inference: whole workers of inference are left to generate, while the others give their GPUs to it."""
    within = f"{train.key} ({write_ranks(trains.ranges)}) lies within {infer.key} ({write_ranks(infers.ranges)})"
    workers = infer.world_size
    if workers is not None and workers < 2:
        message = (
            f"{within}, so part of {infer.key} goes on generating: that needs at least 2 workers, but {with_noun(infers.count, 'GPU')} at"
        )
        message += f" {infer.num_gpus_per_worker} each are {workers}"
        help, edit = _smaller_workers(setup, infer, trains, infers)
        setup.notes.error(
            CODE, infer.key, message, infer.place, f"{workers} worker", help, edit, AFTER_MODELS, f"infer_dp {workers} < 2", OFF
        )
    its = ratio(setup)
    if its is not None and its <= 0:
        message = f"{within}, so part of {infer.key} goes on generating, but `{RATIO}` is {shown(its)}"
        at = setup.settings.at(RATIO)
        help = f"write `{RATIO}: 1`, give both the same GPUs, or write `{MODE}: false`"
        setup.notes.error(
            CODE, infer.key, message, at or infer.place, "not above 0", help, setup.settings.becomes(RATIO, "1"), AFTER_MODELS, OFF
        )
    critics(setup, train, infer)
    if workers is None or workers > 1:
        freed(setup, train, setup.role(CRITICS), infer)


def _smaller_workers(setup: Setup, infer: Role, trains: Ids, infers: Ids) -> tuple[str, Edit | None]:
    """A tp with which training takes whole workers and one is left."""
    otherwise = f"give both the same GPUs, or write `{MODE}: false`"
    sizes = [size for size in range(infers.count // 2, 0, -1) if infers.count % size == 0]
    first, last = trains.lowest - infers.lowest, trains.highest - infers.highest
    fits = next((size for size in sizes if not (first % size or last % size) and trains.count % size == 0), None)
    key = infer.config("tensor_parallel_size")
    if fits is None or infer.strategy != VLLM or setup.settings.at(infer.config("pipeline_parallel_size")) is not None:
        return otherwise, None
    return f"set `{key}: {fits}`, {otherwise}", setup.settings.becomes(key, str(fits))


def _colocated(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> None:
    """They share GPUs otherwise: ROLL counts them, and generates and trains in turn only."""
    reward = setup.role(AGENTIC_REWARD)
    rewards = reward.ids.distinct if reward is not None and reward.ids is not None else 0
    shared = sum(map(len, common(trains, infers)))
    if trains.distinct != infers.distinct + rewards:
        message = (
            f"{train.key} and {infer.key} share {with_noun(shared, 'GPU')} and {train.key} does not lie within more of them, so it must"
        )
        message += (
            f" have as many GPUs as {infer.key} and the reward together: it has {trains.distinct}, they {infers.distinct} + {rewards}"
        )
        help = f"give {train.key} and {infer.key} the same GPUs, or none in common, or write `{MODE}: false`"
        _error(setup, train, message, with_noun(trains.distinct, "GPU"), help, 'ROLL says no more than "colocating mode"')
    its = ratio(setup)
    if its is not None and its != 0:
        message = f"{train.key} and {infer.key} share {with_noun(shared, 'GPU')} and none of {infer.key} is left to generate meanwhile,"
        message += f" so `{RATIO}` must be 0, but it is {shown(its)}"
        at = setup.settings.at(RATIO) or train.place
        help = f"write `{RATIO}: 0`, or give {infer.key} at least one more worker's GPUs than {train.key} has"
        setup.notes.error(CODE, infer.key, message, at, "not 0", help, setup.settings.becomes(RATIO, "0"), AFTER_MODELS, OFF)


def _error(setup: Setup, role: Role, message: str, label: str, help: str, why: str) -> None:
    setup.notes.error(CODE, role.key, message, role.place, label, help, None, AFTER_MODELS, why, OFF)
