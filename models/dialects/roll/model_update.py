"""Weights go from `actor_train` to `actor_infer`: both are solid ranges, and where they share GPUs they lie in step."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Iterator, Sequence

from ...component import SUBSET
from ...findings.fix import Fix
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...ranks import merge, without, write_ranks
from ...text.scalar_text import in_flow_map
from ...text.tree import Scalar
from .ids import Ids, common, difference, range_text
from .job import Role, Setup
from .names import ACTOR_INFER, ACTOR_TRAIN
from .names import AFTER_MODELS, AT_UPDATE, NEVER
from .strategies import SGLANG, in_groups_of

# Other ids for roles that must be solid ranges and are not: ranges that keep apart what was apart.

SOLID = "PW205"
MOST_TRIED = 24
"""So many places are tried for each role: where something begins or ends."""


def solid_fixes(setup: Setup, train: Role, infer: Role) -> None:
    """Say for each of the two what mends it: a range, and the other one's new range where both have holes."""
    broken = [role for role in (train, infer) if role.ids is not None and not role.ids.solid]
    if not broken:
        return
    found = next(_moved(setup, broken), None)
    for position, role in enumerate(broken):
        ids = role.ids or Ids()
        fix = Fix(f"write one range such as `{range_text(range(ids.lowest, ids.lowest + ids.distinct))}`, and move what is in its way")
        if found is not None:
            text = " and ".join(f"{each.key} `{range_text(its)}`" for each, its in zip(broken, found))
            others = [other for other in broken if other is not role]
            alone = _keeps_off(role, Ids((found[position],)), others)  # each edit is also made without the other
            fix = Fix(f"give {text}", written_edit(role, found[position]) if alone else None)
        component = setup.components[role.key]
        setup.components[role.key] = replace(component, fixes={**component.fixes, SOLID: fix})


def _moved(setup: Setup, broken: Sequence[Role]) -> Iterator[tuple[range, ...]]:
    """Ranges of the same sizes within what is used, which share with no role that they did not share with before."""
    created = [role for role in setup.roles if role.created and role.on_devices and role.ids]
    last = max(role.ids.highest for role in created if role.ids)
    ends = {0} | {edge for role in created if role.ids for each in role.ids.ranges[:MOST_TRIED] for edge in (each.start, each.stop)}
    others = [role for role in created if role not in broken]
    choices = [
        [range(start, start + role.ids.distinct) for start in islice(sorted(ends), MOST_TRIED) if start + role.ids.distinct <= last + 1]
        for role in broken
        if role.ids
    ]
    together = len(broken) == 2 and _same(broken[0], broken[1])
    for ranges in product(*choices):
        new = [Ids((its,)) for its in ranges]
        if len(new) == 2 and (ranges[0] != ranges[1] if together else common(new[0], new[1])):
            continue
        if all(_keeps_off(role, its, others) for role, its in zip(broken, new)):
            yield ranges


def _same(one: Role, other: Role) -> bool:
    return bool(one.ids and other.ids and one.ids.ranges == other.ids.ranges)


def _keeps_off(role: Role, ids: Ids, others: Sequence[Role]) -> bool:
    """Do these ids meet none of the roles that it does not meet now?"""
    return not any(other.ids and role.ids and common(other.ids, ids) and not common(other.ids, role.ids) for other in others)


def written_edit(role: Role, ids: range) -> Edit | None:
    """The edit that gives a role these ids; None where its own stand elsewhere."""
    value = role.mapping
    return Edit(value.span, in_flow_map(range_text(ids))) if isinstance(value, Scalar) and value.origin is None else None


# The weights of `actor_train` go to `actor_infer`: both are solid ranges, and where they share GPUs they lie in step.
#
# Source: ROLL, roll/distributed/executor/model_update_group.py; roll/third_party/megatron/model_update.py and
# roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).

CODE = "PW217"


def model_update(setup: Setup) -> None:
    """Both roles are solid; given ones that share GPUs are laid beside each other."""
    if not setup.pipeline.updates_models or not setup.since("0.2.0"):  # before, weights were broadcast wherever ranks lie
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
    mine, theirs, worker = trains.listed[found.position], infers.listed[found.position + shift], (found.position + shift) // each
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
