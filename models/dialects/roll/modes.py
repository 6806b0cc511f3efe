"""Asynchronous generation and the agentic pipeline's `partial_gpu_mode`."""

from __future__ import annotations

from ...component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Relation
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...ranks import without, write_ranks
from ...releases.release import Range
from ..checks import Equals, Facts
from .ids import Ids, common, positions
from .job import Role, RollSetup, number, shown, whole_of
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AGENTIC_REWARD, AT_LOAD, CRITICS, NEVER, REFERENCES, REWARDS, VLLM

# Generation during training: demands of `async_generation_ratio`.
#
# Source: ROLL, roll/configs/base_config.py (PPOConfig.__post_init__), roll/pipeline/rlvr/rlvr_config.py.

CODE = "PW123"
RATIO, LEVEL = "async_generation_ratio", "generate_opt_level"


def ratio(setup: RollSetup) -> float | None:
    """Return `async_generation_ratio`; None if unknown."""
    return number(setup.settings, RATIO, CODE, 0.0)


def check_asynchronous(setup: RollSetup) -> None:
    """Check the ratio, `generate_opt_level`, and the separate GPUs of generation."""
    async_ratio = ratio(setup) if setup.pipeline.ppo and setup.since("0.1.3") else None
    if not async_ratio:
        return
    settings, agentic = setup.settings, setup.pipeline.agentic
    Equals(
        code=CODE, source="ROLL, roll/configs/base_config.py, roll/pipeline/rlvr/rlvr_config.py", when=AT_LOAD,
        releases=Range(since="0.2.0" if agentic else "0.1.3"), left=whole_of(LEVEL, CODE, -(10**9)), right=1,
        message="asynchronous generation needs `generate_opt_level: 1`: {left}",
    ).run(Facts(setup.notes, settings, ACTOR_INFER))  # fmt: skip
    if agentic or async_ratio < 0:
        return
    if async_ratio < 1:
        message = f"`{RATIO}: {shown(async_ratio)}` is neither 0 nor at least 1, which the rlvr pipelines demand"
        at, help = settings.at(RATIO) or settings.top, "write `1`, or `0` to generate and train in turn"
        setup.notes.error(CODE, ACTOR_INFER, message, at, "below 1", help, settings.becomes(RATIO, "1"), AT_LOAD)
    infer = setup.role(ACTOR_INFER)
    for role in setup.all(ACTOR_TRAIN, CRITICS, REWARDS, REFERENCES) if infer is not None else ():
        if infer is not None and (both := common(infer.devices, role.devices)):
            message = f"{infer.key} and {role.key} share {with_noun(sum(map(len, both)), 'GPU')}, but with `{RATIO}: {shown(async_ratio)}`"
            message += f" {infer.key} generates while {role.key} works"
            help, why = f"give {role.key} other GPUs, or write `{RATIO}: 0`", "ROLL warns of it as it reads the configuration"
            setup.notes.warn(CODE, infer.key, message, role.place, f"shared with {infer.key}", help, None, why)


# The agentic pipeline's `partial_gpu_mode`: a part of `actor_infer` generates while its other GPUs
# train.
#
# Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (_validate_partial_gpu_config,
# _validate_minimum_active_ranks, run); roll/distributed/scheduler/router.py (shrink_workers: every
# worker that holds a freed GPU; expand_workers: workers all of whose GPUs are freed).

MODE = "partial_gpu_mode"
REASON = "ROLL's `partial_gpu_mode`"
OFF = f"`{MODE}: false` turns this check off"


def check_partial_gpu(setup: RollSetup) -> None:
    """Check the mode for explicit ids, or add relations for roles left to solve."""
    has_mode = setup.pipeline.agentic and setup.pipeline.updates_models and setup.since("0.2.0")
    train, infer = setup.role(ACTOR_TRAIN), setup.role(ACTOR_INFER)
    if not has_mode or train is None or infer is None or not setup.settings.flag(MODE, CODE, True):
        return
    _check_references(setup, train)
    if train.ids is None or infer.ids is None:
        _relate_open(setup, train, infer)
        return
    shared = sum(map(len, common(train.ids, infer.ids)))
    if shared == train.ids.distinct < infer.ids.distinct and shared:
        _check_part(setup, train, infer)
    elif shared:
        _check_colocated(setup, train, infer, shared)


def _check_references(setup: RollSetup, train: Role) -> None:
    """Demand the reference on the GPUs of training; ROLL only warns if several teachers differ."""
    references, settings = list(setup.all(REFERENCES)), setup.settings
    if len(references) == 1:
        _relate(setup, COLOCATED, references[0], train)
    held = [role.ids for role in references if role.ids is not None]
    together = Ids(tuple(part for ids in held for part in ids.parts))
    if train.ids is not None and 1 < len(references) == len(held) and together.ranges != train.ids.ranges:
        message = f"the {len(held)} teachers hold {write_ranks(together.ranges)}, but {train.key} {write_ranks(train.ids.ranges)}"
        help, why = f"give the teachers together the GPUs of {train.key}", "ROLL warns of it after all models are loaded"
        setup.notes.warn(CODE, references[0].key, f"{message}: they do not take turns", references[0].place, "", help, None, why)
    adapters = train.path("model_args.lora_target")
    if references or not settings.has(adapters):
        return
    is_on = any(settings.flag(key, CODE) for key in ("enable_reference", "use_kl_loss", "use_opd")) or setup.pipeline.pure_opd
    if is_on or (number(settings, "init_kl_coef", CODE, 0.2) or 0) > 0:
        message = f"`{adapters}` is set, so ROLL starts no reference, but `{MODE}` wants one on the GPUs of {train.key}"
        help, edit = f"write `{MODE}: false`, or turn the reference off", settings.becomes(MODE, "false")
        setup.notes.error(CODE, REFERENCES, message, settings.at(adapters) or train.span, "no reference", help, edit, AFTER_MODELS)


def _relate(setup: RollSetup, kind: str, first: Role, second: Role) -> None:
    """Add a relation that the mode demands, where the first role has a component."""
    if component := setup.components.get(first.key):
        setup.relations.append(Relation(kind, (first.key, second.key), component.spans.get("placement"), REASON))


def _relate_critic(setup: RollSetup, train: Role, infer: Role) -> None:
    """Place the critic within inference and apart from training."""
    critic = setup.role(CRITICS)
    for kind, role in ((SUBSET, infer), (DISJOINT, train)):
        if critic is not None and role.key in setup.components:
            _relate(setup, kind, critic, role)


def _check_part(setup: RollSetup, train: Role, infer: Role) -> None:
    """Check training on a part of inference: whole workers go on, the others give way."""
    within = f"{train.key} ({write_ranks(train.devices.ranges)}) lies within {infer.key} ({write_ranks(infer.devices.ranges)})"
    workers, async_ratio = infer.world_size, ratio(setup)
    if workers is not None and workers < 2:
        message = f"{within}, so part of {infer.key} goes on generating: that needs at least 2 workers, not {workers}"
        help, edit = _smaller_workers(setup, train, infer)
        why = (AFTER_MODELS, f"infer_dp {workers} < 2", OFF)
        setup.notes.error(CODE, infer.key, message, infer.place, f"{workers} worker", help, edit, *why)
    if async_ratio is not None and async_ratio <= 0:
        message = f"{within}, so part of {infer.key} goes on generating, but `{RATIO}` is {shown(async_ratio)}"
        at, help = setup.settings.at(RATIO) or infer.place, f"write `{RATIO}: 1`, give both the same GPUs, or write `{MODE}: false`"
        setup.notes.error(CODE, infer.key, message, at, "not above 0", help, setup.settings.becomes(RATIO, "1"), AFTER_MODELS, OFF)
    _relate_critic(setup, train, infer)
    if workers is None or workers > 1:
        _check_freed_workers(setup, train, setup.role(CRITICS), infer)


def _smaller_workers(setup: RollSetup, train: Role, infer: Role) -> tuple[str, Edit | None]:
    """Return help and edit: a tp with which training takes whole workers and leaves one."""
    trains, infers, otherwise = train.devices, infer.devices, f"give both the same GPUs, or write `{MODE}: false`"
    edges = (trains.lowest - infers.lowest, trains.highest - infers.highest, trains.count, infers.count)
    fits = next((size for size in range(infers.count // 2, 0, -1) if not any(edge % size for edge in edges)), None)
    key = infer.config("tensor_parallel_size")
    if fits is None or infer.strategy != VLLM or setup.settings.at(infer.config("pipeline_parallel_size")) is not None:
        return otherwise, None
    return f"set `{key}: {fits}`, {otherwise}", setup.settings.becomes(key, str(fits))


def _check_freed_workers(setup: RollSetup, train: Role, critic: Role | None, infer: Role) -> None:
    """Check that ROLL counts all GPUs, that a worker is left, and that all freed workers come back."""
    tp, pp = (setup.settings.whole(infer.config(f"{name}_parallel_size"), CODE, 1, exact=True) for name in ("tensor", "pipeline"))
    # The mode takes an unset degree for 1.
    if infer.world_size is None or not infer.num_gpus_per_worker or not infer.is_engine or not tp or not pp:
        return
    infers, per_worker = infer.devices, tp.value * pp.value
    if per_worker * infer.world_size != infers.distinct:
        message = f"`{MODE}` counts tp x pp x workers = {per_worker} x {infer.world_size} GPUs of {infer.key}, which has {infers.distinct}"
        help = f"set `{infer.config('tensor_parallel_size')}`: where it is not written the mode takes 1"
        setup.notes.error("PW403", infer.key, message, infer.place, with_noun(infers.distinct, "GPU"), help, None, AFTER_MODELS)
        return
    for role in (train, critic):
        if role is not None and role.devices.count > role.devices.distinct:
            message = f"{role.key} names GPUs more than once, so {infer.key} is refused to give way for it"
            why = "ROLL notices this only at the first training step (`target_gpus has duplicates`)"
            setup.notes.error("PW108", role.key, message, role.place, "an id stands twice", "write every id once", None, why)
    freed = Ids((*train.devices.parts, *(critic.devices.parts if critic else ())))
    # ROLL's check sorts the ids.
    left, left_of_sorted = _left(infers, per_worker, freed), _left(Ids(infers.ranges), per_worker, freed)
    if not left or not left_of_sorted:
        message = f"every worker of {infer.key} holds a GPU that training needs, so none is left to generate meanwhile"
        help = f"leave a worker of {infer.key} without GPUs of training and critic, or write `{MODE}: false`"
        why = "ROLL notices this only at the first training step (`Cannot shrink to zero active ranks`)" if left_of_sorted else AFTER_MODELS
        setup.notes.error(CODE, infer.key, message, infer.place, "", help, None, why)
        return
    taken = positions(infers, freed.ranges)
    lost = sorted({edge // per_worker for taken_range in taken for edge in (taken_range.start, taken_range.stop) if edge % per_worker})
    if lost:
        more = f" ({len(lost)} workers do)" if len(lost) > 1 else ""
        message = f"worker {lost[0]} of {infer.key} shares only some of its GPUs with training{more}: "
        message += "it gives way at the first step and is sent no request again"
        help = f"let {critic.key if critic else 'training'} take whole workers of {infer.key}"
        setup.notes.warn(CODE, infer.key, message, (critic or infer).place, "part of a worker", help, None, NEVER)


def _left(infers: Ids, per_worker: int, ids: Ids) -> int:
    """Return the number of workers that hold none of the ids."""
    free = positions(infers, without(infers.ranges, ids.ranges))
    return sum(max(free_range.stop // per_worker - -(-free_range.start // per_worker), 0) for free_range in free)


def _check_colocated(setup: RollSetup, train: Role, infer: Role, shared: int) -> None:
    """Check partial sharing of GPUs: ROLL compares counts, and works in turn only."""
    reward, async_ratio = setup.role(AGENTIC_REWARD), ratio(setup)
    trains, infers, rewards = train.devices.distinct, infer.devices.distinct, reward.devices.distinct if reward else 0
    both = f"{train.key} and {infer.key} share {with_noun(shared, 'GPU')}"
    if trains != infers + rewards:
        message = f"{both} otherwise than one within the other: {train.key} must have as many as {infer.key} and the reward together, "
        message += f"{trains} are not {infers} + {rewards}"
        help = f"give {train.key} and {infer.key} the same GPUs, or none in common, or write `{MODE}: false`"
        why = (AFTER_MODELS, 'ROLL says no more than "colocating mode"', OFF)
        setup.notes.error(CODE, train.key, message, train.place, with_noun(trains, "GPU"), help, None, *why)
    if async_ratio:
        message = f"{both} and none is left to generate meanwhile, so `{RATIO}` must be 0, but it is {shown(async_ratio)}"
        at, edit = setup.settings.at(RATIO) or train.place, setup.settings.becomes(RATIO, "0")
        help = f"write `{RATIO}: 0`, or give {infer.key} at least one more worker's GPUs than {train.key} has"
        setup.notes.error(CODE, infer.key, message, at, "not 0", help, edit, AFTER_MODELS, OFF)


# Relations and amounts that the mode accepts, for training or inference left to solve.


def _relate_open(setup: RollSetup, train: Role, infer: Role) -> None:
    """Add relations: nested only with a positive ratio, else the same GPUs or disjoint ones."""
    if train.key not in setup.components or infer.key not in setup.components:
        return
    async_ratio, reward = ratio(setup), setup.role(AGENTIC_REWARD)
    hinted = {relation.implies: relation for relation in setup.hinted if set(relation.components) == {train.key, infer.key}}
    if SUBSET in hinted and hinted[SUBSET].components[0] == train.key and async_ratio is not None and async_ratio > 0:
        _relate_critic(setup, train, infer)
        _reserve_worker(setup, train, infer)
        return
    alone = bool(async_ratio) or reward is not None
    if alone and COLOCATED in hinted:
        why, help, edit = f"there is a {AGENTIC_REWARD}", "drop the hint", None
        if async_ratio:
            why = f"`{RATIO}` is {shown(async_ratio)}"
            help, edit = f"drop the hint, or write `{RATIO}: 0`", setup.settings.becomes(RATIO, "0")
        message = f"the hints give {train.key} and {infer.key} the same GPUs, but {why}: {REASON} refuses that"
        setup.notes.error(CODE, train.key, message, hinted[COLOCATED].span or train.span, "the same GPUs", help, edit)
        return
    setup.relations.append(Relation(DISJOINT if alone else COLOCATED_OR_DISJOINT, (train.key, infer.key), None, REASON))


def _reserve_worker(setup: RollSetup, train: Role, infer: Role) -> None:
    """Bound the amounts of training and critic to leave a worker of inference."""
    inner, outer, critic = setup.components[train.key], setup.components[infer.key], setup.role(CRITICS)
    taken = setup.components[critic.key].least if critic is not None and critic.key in setup.components else 0
    per_worker = infer.num_gpus_per_worker or outer.per_process
    most, needed = outer.most - per_worker - taken, inner.least + taken + per_worker
    if most < inner.least:
        message = f"{train.key} and {CRITICS} take {inner.least + taken} of at most {with_noun(outer.most, 'GPU')} of {infer.key}"
        at, help = outer.spans.get("amount") or inner.spans.get("amount") or train.span, f"ask for {needed} GPUs of {infer.key}"
        setup.notes.error(CODE, infer.key, f"{message}: {REASON} wants a worker of {per_worker} to be left", at, "too few", help)
        return
    if inner.runs is None:
        setup.components[train.key] = inner.between(inner.least, min(inner.most, most))
    if outer.runs is None:
        least = max(outer.least, needed, 2 * per_worker)
        setup.components[infer.key] = outer.between(-(-least // outer.step) * outer.step, outer.most)
