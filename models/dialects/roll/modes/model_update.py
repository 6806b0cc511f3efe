"""The weights of `actor_train` go to `actor_infer`: both are solid ranges, and where they share GPUs they lie in step.

Source: ROLL, roll/distributed/executor/model_update_group.py; roll/third_party/megatron/model_update.py and
roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).
"""

from __future__ import annotations

from dataclasses import replace

from ....component import SUBSET
from ....findings.span import Edit
from ....findings.wording import are, with_noun
from ....ranks import merge, without, write_ranks
from ..mapping.ids import Ids
from ..mapping.written import range_text
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import SGLANG
from .hinted import in_groups_of
from .notices import AFTER_MODELS, AT_UPDATE, NEVER
from .pairing import at, common, difference
from .solid import solid_fixes, written_edit

CODE = "PW217"


def model_update(setup: Setup) -> None:
    """Both roles are solid; given ones that share GPUs are laid beside each other."""
    if not setup.pipeline.updates_models:
        return
    train, infer = setup.role(ACTOR_TRAIN), setup.role(ACTOR_INFER)
    for role in (train, infer):
        if role is not None and (component := setup.components.get(role.key)):
            setup.components[role.key] = replace(component, contiguous=True, any_order=True)
    if train is not None and infer is not None:
        _whole_groups(setup, train, infer)
        if {train.key, infer.key} <= setup.components.keys() and (train.ids is None or infer.ids is None):
            setup.in_step.append((train.key, infer.key))
    if train is None or infer is None or not train.on_devices or not infer.on_devices or train.ids is None or infer.ids is None:
        return
    solid_fixes(setup, train, infer)
    each = infer.num_gpus_per_worker
    if not common(train.ids, infer.ids) or not each or infer.ids.count % each:
        return
    if _in_step(setup, train, infer, train.ids, infer.ids):
        _met(setup, train, infer, train.ids, infer.ids)
        _reached(setup, infer, train.ids, infer.ids)


def _whole_groups(setup: Setup, train: Role, infer: Role) -> None:
    """Hints for training and inference within each other: whole groups of ranks, where how large workers of inference are is not open."""
    known = {train.key, infer.key} <= setup.components.keys() and infer.key not in setup.choices
    within = any(relation.kind == SUBSET and set(relation.components) == {train.key, infer.key} for relation in setup.hinted)
    if known and within and train.ids is None and setup.components[train.key].runs is None and infer.num_gpus_per_worker:
        in_groups_of(setup, train, infer.num_gpus_per_worker, infer.key)


def _in_step(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> bool:
    """Do whole workers of inference begin and end where training does, and do its ranks fill them?"""
    each = infer.num_gpus_per_worker
    first, last = trains.lowest - infers.lowest, trains.highest - infers.highest
    share = f"{train.key} ({write_ranks(trains.ranges)}) and {infer.key} ({write_ranks(infers.ranges)}) share GPUs, but"
    if first % each or last % each:
        edges = [f"{what} {_apart(ids)} it" for what, ids in (("begins", first), ("ends", last)) if ids % each]
        message = f"{share} {train.key} {' and '.join(edges)}: not with whole workers of {each} GPUs"
        label = f"inside a worker of {infer.key}"
    elif trains.count % each:
        message = f"{share} the {with_noun(trains.count, 'rank')} of {train.key} {are(trains.count)} no whole groups for workers of {each} GPUs: {trains.count % each} would be left"
        label = f"no multiple of {each}"
    else:
        return True
    help = f"let {train.key} share whole workers of {infer.key}, each GPU written once, or no GPU"
    setup.notes.error(CODE, train.key, message, train.place, label, help, None, AFTER_MODELS)
    return False


def _apart(ids: int) -> str:
    return f"{with_noun(abs(ids), 'id')} {'after' if ids > 0 else 'before'}"


def _met(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> None:
    """Every rank hands its weights to a worker on its own GPU: they go through GPU memory."""
    shift = trains.lowest - infers.lowest
    found = difference(trains, infers, shift)
    if found is None:
        return
    each = infer.num_gpus_per_worker
    seen = infer.strategy != SGLANG or _unseen(trains, infers, shift, each)
    mine, theirs, worker = at(trains, found.position), at(infers, found.position + shift), (found.position + shift) // each
    message = f"rank {found.position} of {train.key} is on {_place(mine, setup.per_node)}, but hands its weights to worker {worker} of"
    message += f" {infer.key} on {_place(theirs, setup.per_node)}" + (f" ({found.count} ranks meet another GPU)" if found.count > 1 else "")
    if seen:
        help, edit = _ascending(train, infer)
        setup.notes.error(CODE, train.key, message, train.place, f"rank {found.position} is on id {mine}", help, edit, AT_UPDATE)
    else:
        setup.notes.warn(
            CODE, train.key, f"{message}: slow, but not refused", train.place, f"rank {found.position} is on id {mine}",
            "write both in the same order", None, NEVER,
        )  # fmt: skip


def _ascending(train: Role, infer: Role) -> tuple[str, Edit | None]:
    """Both in ascending order: a range for the one of them that is not."""
    wrong = [(role, role.ids) for role in (train, infer) if role.ids is not None and not role.ids.ascending]
    if len(wrong) == 1 and all(ids.solid and ids.count == ids.distinct for _, ids in wrong):
        role, ids = wrong[0]
        better = range(ids.lowest, ids.highest + 1)
        return f"give {role.key} `{range_text(better)}`", written_edit(role, better)
    return f"write the ids of {train.key} and {infer.key} in ascending order, each once", None


def _unseen(trains: Ids, infers: Ids, shift: int, each: int) -> bool:
    """Is any rank on a GPU that the worker it meets does not see at all? A worker of sglang sees all its GPUs."""
    held = list(infers)
    for rank, mine in enumerate(trains):
        position = rank + shift
        if 0 <= position < len(held) and mine not in held[position // each * each : (position // each + 1) * each]:
            return True
    return False


def _reached(setup: Setup, infer: Role, trains: Ids, infers: Ids) -> None:
    """Every worker of inference gets weights: from the ranks that it meets, or from rank 0."""
    each = infer.num_gpus_per_worker
    first, last = (trains.lowest - infers.lowest) // each, (trains.highest - infers.highest) // each
    workers = infers.count // each
    met, before, after = range(first, first + trains.count // each), range(max(first, 0)), range(workers + min(last, 0), workers)
    missed = without([range(workers)], merge([met, before, after]))
    if missed:
        count = sum(map(len, missed))
        more = f" ({count} workers do not)" if count > 1 else ""
        message = f"worker {missed[0][0]} of {infer.key} never gets new weights{more}: it goes on with those it started with"
        help = "write every id once"
        setup.notes.error(CODE, infer.key, message, infer.place, "is not reached", help, None, NEVER)


def _place(id_: int, per_node: int) -> str:
    return f"GPU {id_ % per_node} of node {id_ // per_node}"
