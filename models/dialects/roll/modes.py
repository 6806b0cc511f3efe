"""Asynchronous generation and the agentic pipeline's `partial_gpu_mode`."""

from __future__ import annotations

from ...component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Relation
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...ranks import without, write_ranks
from ...releases.release import Range
from ...text.tree import Scalar
from ..checks import Equals, Facts, run_checks
from .ids import Ids, common, positions
from .job import Role, Setup, number, shown, whole_of
from .names import ACTOR_INFER, ACTOR_TRAIN, AGENTIC_REWARD, CRITICS, REFERENCES, REWARDS
from .names import AFTER_MODELS, AT_LOAD, NEVER
from .strategies import SGLANG, VLLM

# Generation that goes on while the model trains: what `async_generation_ratio` demands.
#
# Source: ROLL, roll/configs/base_config.py (PPOConfig.__post_init__), roll/pipeline/rlvr/rlvr_config.py (RLVRConfig.__post_init__).

CODE = "PW123"
RATIO, LEVEL = "async_generation_ratio", "generate_opt_level"


_SOURCE = "ROLL, roll/configs/base_config.py, roll/pipeline/rlvr/rlvr_config.py"
_MESSAGE = "asynchronous generation needs `generate_opt_level: 1`: {left}"
RLVR_CHECKS, AGENTIC_CHECKS = (
    (
        Equals(
            code=CODE,
            source=_SOURCE,
            when=AT_LOAD,
            releases=Range(since=since),
            left=whole_of(LEVEL, CODE, -(10**9)),
            right=1,
            message=_MESSAGE,
        ),
    )
    for since in ("0.1.3", "0.2.0")
)


def ratio(setup: Setup) -> float | None:
    """`async_generation_ratio`; None where it is not known."""
    return number(setup.settings, RATIO, CODE, 0.0)


def asynchronous(setup: Setup) -> None:
    """The ratio and the way of generating go together; what generates meanwhile has its GPUs for itself."""
    its = ratio(setup) if setup.pipeline.ppo and setup.since("0.1.3") else None
    if not its:
        return
    settings = setup.settings
    at = settings.at(RATIO) or settings.top
    run_checks(AGENTIC_CHECKS if setup.pipeline.agentic else RLVR_CHECKS, Facts(setup.notes, settings, ACTOR_INFER))
    if setup.pipeline.agentic or its < 0:
        return
    if its < 1:
        edit = settings.becomes(RATIO, "1")
        message = f"`{RATIO}: {shown(its)}` is neither 0 nor at least 1, which the rlvr pipelines demand"
        setup.notes.error(CODE, ACTOR_INFER, message, at, "below 1", "write `1`, or `0` to generate and train in turn", edit, AT_LOAD)
    _shared(setup, its, isinstance(at, Scalar))


def _shared(setup: Setup, its: float, said: bool) -> None:
    infer = setup.role(ACTOR_INFER)
    if infer is None or infer.ids is None or not said:
        return
    for part in (ACTOR_TRAIN, CRITICS, REWARDS, REFERENCES):
        for role in setup.all(part):
            both = common(infer.ids, role.ids) if role.ids is not None else ()
            if both:
                count = sum(map(len, both))
                message = f"{infer.key} and {role.key} share {with_noun(count, 'GPU')}, but with `{RATIO}: {shown(its)}`"
                message += f" {infer.key} generates while {role.key} works"
                help = f"give {role.key} other GPUs, or write `{RATIO}: 0`"
                why = "ROLL warns of it as it reads the configuration, without naming the roles"
                setup.notes.warn(CODE, infer.key, message, role.place, f"shared with {infer.key}", help, None, why)


# Which workers of `actor_infer` give up their GPUs while the model trains, and which of them come back.
#
# Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (_validate_minimum_active_ranks); roll/distributed/scheduler/router.py
# (shrink_workers: every worker that holds a freed GPU; expand_workers: those all of whose GPUs are freed).

DEGREES = "PW403"


def freed(setup: Setup, train: Role, critic: Role | None, infer: Role) -> None:
    """At least one worker is left; what ROLL counts by tp x pp is what its workers have; all that give way come back."""
    if train.ids is None or infer.ids is None or not infer.num_gpus_per_worker or infer.world_size is None:
        return
    ids = Ids((*train.ids.parts, *(critic.ids.parts if critic and critic.ids else ())))
    each = _counted(setup, infer)
    if each is None:
        return
    if each * infer.world_size != infer.ids.distinct:
        message = f"`partial_gpu_mode` counts tp x pp x workers = {each} x {infer.world_size} = {with_noun(each * infer.world_size, 'GPU')} of {infer.key}, which has {infer.ids.distinct}"
        help = f"set `{infer.config('tensor_parallel_size')}`: where it is not written the mode takes 1, whatever a worker has"
        setup.notes.error(DEGREES, infer.key, message, infer.place, with_noun(infer.ids.distinct, "GPU"), help, None, AFTER_MODELS)
        return
    for role in (train, critic):
        if role is not None and role.ids is not None and role.ids.count > role.ids.distinct:
            message = f"{role.key} names {role.ids.count - role.ids.distinct} of its GPUs more than once, so {infer.key} is refused to give way for it"
            why = "ROLL notices this only at the first training step (`target_gpus has duplicates`)"
            setup.notes.error("PW108", role.key, message, role.place, "an id stands twice", "write every id once", None, why)
    if not _left(Ids(infer.ids.ranges), each, ids):
        message = f"every worker of {infer.key} holds a GPU that training needs, so none is left to generate meanwhile"
        _none_left(setup, infer, message, AFTER_MODELS)
    elif not _left(infer.ids, each, ids):
        message = f"every worker of {infer.key} holds a GPU that training needs: ROLL's check takes the ids in ascending order, its workers"
        message += " have them as written"
        _none_left(setup, infer, message, "ROLL notices this only at the first training step (`Cannot shrink to zero active ranks`)")
    else:
        _come_back(setup, infer, each, positions(infer.ids, ids.ranges), critic)


def _none_left(setup: Setup, infer: Role, message: str, notice: str) -> None:
    help = f"leave at least one worker of {infer.key} without GPUs of training and critic, or write `partial_gpu_mode: false`"
    setup.notes.error(CODE, infer.key, message, infer.place, "no worker is left", help, None, notice)


def _counted(setup: Setup, infer: Role) -> int | None:
    """tp x pp as the mode reads them: 1 where they are not written."""
    if infer.strategy not in (VLLM, SGLANG):
        return None
    tp, pp = (setup.settings.whole(infer.config(f"{name}_parallel_size"), CODE, 1, exact=True) for name in ("tensor", "pipeline"))
    return tp.value * pp.value if tp and pp else None


def _left(infers: Ids, each: int, ids: Ids) -> int:
    """How many workers hold none of these ids."""
    kept = positions(infers, without(infers.ranges, ids.ranges))
    return sum(max(its.stop // each - -(-its.start // each), 0) for its in kept)


def _come_back(setup: Setup, infer: Role, each: int, taken: tuple[range, ...], critic: Role | None) -> None:
    """A worker that gives way because of some of its GPUs is not sent requests again: only whole ones are."""
    lost = sorted({edge // each for its in taken for edge in (its.start, its.stop) if edge % each})
    if lost:
        more = f" ({len(lost)} workers do)" if len(lost) > 1 else ""
        message = f"worker {lost[0]} of {infer.key} shares only some of its GPUs with training{more}: it gives way at the first step and is"
        message += " sent no request again"
        help = f"let {critic.key if critic else 'training'} take whole workers of {infer.key}"
        setup.notes.warn(CODE, infer.key, message, (critic or infer).place, "part of a worker", help, None, NEVER)


# `partial_gpu_mode` where training or inference is left to solve: relations and amounts that it accepts.
#
# Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (AgenticPipeline._validate_partial_gpu_config).

MODE = "partial_gpu_mode"
REASON = "ROLL's `partial_gpu_mode`"


def opened(setup: Setup, train: Role, infer: Role) -> None:
    """One of both is left to solve: within each other only where that goes with the ratio, else the same GPUs or none in common."""
    if train.key not in setup.components or infer.key not in setup.components:
        return
    its, reward = ratio(setup), setup.role(AGENTIC_REWARD)
    hinted = {relation.implies: relation for relation in setup.hinted if set(relation.components) == {train.key, infer.key}}
    if SUBSET in hinted and hinted[SUBSET].components[0] == train.key and its is not None and its > 0:
        critics(setup, train, infer)
        _room(setup, train, infer)
        return
    alone = (its is not None and its != 0) or reward is not None
    if alone and COLOCATED in hinted:
        why = f"`{RATIO}` is {shown(its)}" if its else f"there is a {AGENTIC_REWARD}"
        message = f"the hints give {train.key} and {infer.key} the same GPUs, but {why}: {REASON} refuses that"
        at = hinted[COLOCATED].span or train.span
        help = f"drop the hint, or write `{RATIO}: 0`" if its else "drop the hint"
        setup.notes.error(CODE, train.key, message, at, "the same GPUs", help, setup.settings.becomes(RATIO, "0") if its else None)
        return
    setup.relations.append(Relation(DISJOINT if alone else COLOCATED_OR_DISJOINT, (train.key, infer.key), None, REASON))


def critics(setup: Setup, train: Role, infer: Role) -> None:
    """Where training lies within inference the critic does too, beside it."""
    critic = setup.role(CRITICS)
    if critic is not None and critic.key in setup.components:
        for kind, other in ((SUBSET, infer), (DISJOINT, train)):
            if other.key in setup.components:
                span = setup.components[critic.key].spans.get("placement")
                setup.relations.append(Relation(kind, (critic.key, other.key), span, REASON))


def _room(setup: Setup, train: Role, infer: Role) -> None:
    """Training and critic leave a worker of inference."""
    inner, outer, critic = setup.components[train.key], setup.components[infer.key], setup.role(CRITICS)
    taken = setup.components[critic.key].least if critic is not None and critic.key in setup.components else 0
    each = infer.num_gpus_per_worker or outer.per_process
    room = outer.most - each - taken
    if room < inner.least:
        others = f" and {taken} of {CRITICS}" if taken else ""
        message = f"{train.key} takes {inner.least}{others} of at most {with_noun(outer.most, 'GPU')} of {infer.key}: {REASON} wants a worker of {each} to be left"
        at = outer.spans.get("amount") or inner.spans.get("amount") or train.span
        help = f"ask for {inner.least + taken + each} GPUs of {infer.key}, or fewer of {train.key}"
        setup.notes.error(CODE, infer.key, message, at, "too few", help)
        return
    if inner.runs is None:
        setup.components[train.key] = inner.between(inner.least, min(inner.most, room))
    if outer.runs is None:
        least = max(outer.least, inner.least + taken + each, 2 * each)
        setup.components[infer.key] = outer.between(-(-least // outer.step) * outer.step, outer.most)


# The agentic pipeline's `partial_gpu_mode`: a part of `actor_infer` goes on generating while the rest of its GPUs train.
#
# Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (AgenticPipeline._validate_partial_gpu_config, run);
# roll/distributed/scheduler/router.py (shrink_workers, expand_workers).

OFF = f"`{MODE}: false` turns this check off"


def partial_gpu(setup: Setup) -> None:
    """All that the mode checks, for given ids; relations for those that are left to solve."""
    has_mode = setup.pipeline.agentic and setup.pipeline.updates_models and setup.since("0.2.0")
    if not has_mode or not setup.settings.flag(MODE, CODE, True):
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
