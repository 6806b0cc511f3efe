"""Which workers of `actor_infer` give up their GPUs while the model trains, and which of them come back.

Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (_validate_minimum_active_ranks); roll/distributed/scheduler/router.py
(shrink_workers: every worker that holds a freed GPU; expand_workers: those all of whose GPUs are freed).
"""

from __future__ import annotations

from ....findings.wording import with_noun
from ....ranks import without
from ..mapping.ids import Ids
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import SGLANG, VLLM
from .notices import AFTER_MODELS, NEVER
from .pairing import positions

CODE = "PW123"
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
