"""Weights go from `actor_train` to `actor_infer`, and logits from a teacher to a student: which GPUs meet."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Iterator, Sequence

from ...component import SUBSET
from ...findings.finding import Fix, Severity
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...ranks import merge, without, write_ranks
from ...record import dataclass
from ...text.edit import in_flow_map
from ...text.tree import Scalar
from ..checks import Divides, Facts, Number, OneOf
from .ids import Ids, common, difference, range_text
from .job import Role, RoleFacts, Setup
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AT_UPDATE, NEVER, STUDENTS, TEACHERS
from .strategies import BY_ULYSSES, MEGATRON, SGLANG, degrees, in_groups_of

CODE, SOLID = "PW217", "PW205"
MOST_TRIED = 24
"""So many places are tried for each role: where something begins or ends."""


def model_update(setup: Setup) -> None:
    """Both roles are solid; given ones that share GPUs are laid beside each other.

    Source: ROLL, roll/distributed/executor/model_update_group.py; roll/third_party/megatron/model_update.py and
    roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).
    """
    if not setup.pipeline.updates_models or not setup.since("0.2.0"):  # before, weights were broadcast wherever ranks lie
        return
    train, infer = setup.role(ACTOR_TRAIN), setup.role(ACTOR_INFER)
    for role in (train, infer):
        if role is not None and (component := setup.components.get(role.key)):
            setup.components[role.key] = replace(component, contiguous=True, any_order=True)
    if train is None or infer is None:
        return
    if {train.key, infer.key} <= setup.components.keys() and (train.ids is None or infer.ids is None):
        setup.in_step.append((train.key, infer.key))
        within = any(relation.kind == SUBSET and set(relation.components) == {train.key, infer.key} for relation in setup.hinted)
        is_open = train.ids is None and setup.components[train.key].runs is None and infer.key not in setup.choices
        if within and is_open and infer.num_gpus_per_worker:
            in_groups_of(setup, train, infer.num_gpus_per_worker, infer.key)
    if not train.on_devices or not infer.on_devices or train.ids is None or infer.ids is None:
        return
    _fix_holes(setup, [role for role in (train, infer) if role.ids is not None and not role.ids.solid])
    each = infer.num_gpus_per_worker
    if common(train.ids, infer.ids) and each and infer.ids.count % each == 0 and _in_step(setup, train, infer, train.ids, infer.ids):
        _met(setup, train, infer, train.ids, infer.ids)
        _reached(setup, infer, train.ids, infer.ids)


def _in_step(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> bool:
    """True if whole workers of inference begin and end where training does, and its ranks fill them; else an error."""
    each = infer.num_gpus_per_worker
    edges = {"begins": trains.lowest - infers.lowest, "ends": trains.highest - infers.highest}
    off = [f"{what} {with_noun(abs(ids), 'id')} {'after' if ids > 0 else 'before'} it" for what, ids in edges.items() if ids % each]
    message = f"{train.key} ({write_ranks(trains.ranges)}) and {infer.key} ({write_ranks(infers.ranges)}) share GPUs, but"
    if off:
        message += f" {train.key} {' and '.join(off)}: not with whole workers of {each} GPUs"
    elif trains.count % each:
        message += f" the {with_noun(trains.count, 'rank')} of {train.key} {are(trains.count)} no whole groups for workers of {each} GPUs"
    else:
        return True
    help = f"let {train.key} share whole workers of {infer.key}, each GPU written once, or no GPU"
    setup.notes.error(CODE, train.key, message, train.place, f"not in step with workers of {each}", help, None, AFTER_MODELS)
    setup.notes.findings[-1] = replace(setup.notes.findings[-1], premises=(train.key, infer.key))  # judged by the ranks of both
    return False


def _met(setup: Setup, train: Role, infer: Role, trains: Ids, infers: Ids) -> None:
    """Every rank hands its weights to a worker on its own GPU: they go through GPU memory."""
    shift, each, held = trains.lowest - infers.lowest, infer.num_gpus_per_worker, infers.listed
    found = difference(trains, infers, shift)
    if found is None:
        return
    mine, theirs, worker = trains.listed[found.position], held[found.position + shift], (found.position + shift) // each
    message = f"rank {found.position} of {train.key} is on {_place(mine, setup.per_node)}, but hands its weights to worker {worker} of"
    message += f" {infer.key} on {_place(theirs, setup.per_node)}" + (f" ({found.count} ranks meet another GPU)" if found.count > 1 else "")
    # A worker of sglang sees all its GPUs.
    beside = [(position, its) for position, its in enumerate(trains, shift) if 0 <= position < len(held)]
    fails = infer.strategy != SGLANG or any(its not in held[at // each * each : (at // each + 1) * each] for at, its in beside)
    wrong = [(role, role.ids) for role in (train, infer) if role.ids is not None and not role.ids.ascending]
    help, edit = f"write the ids of {train.key} and {infer.key} in ascending order, each once", None
    if len(wrong) == 1 and all(ids.solid and ids.count == ids.distinct for _, ids in wrong):
        role, ids = wrong[0]
        better = range(ids.lowest, ids.highest + 1)
        help, edit = f"give {role.key} `{range_text(better)}`", _written(role, better)
    message += "" if fails else ": slow, but not refused"
    tell, label, when = setup.notes.error, f"rank {found.position} is on id {mine}", AT_UPDATE
    if not fails:
        tell, when = setup.notes.warn, NEVER
    tell(CODE, train.key, message, train.place, label, help, edit, when)


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
        setup.notes.error(CODE, infer.key, message, infer.place, "is not reached", "write every id once", None, NEVER)


def _place(id_: int, per_node: int) -> str:
    return f"GPU {id_ % per_node} of node {id_ // per_node}"


# Other ids for roles that must be solid ranges and are not: ranges that keep apart what was apart.


def _fix_holes(setup: Setup, broken: Sequence[Role]) -> None:
    """Say for each of these what mends it: a range, and the other one's new range where both have holes."""
    found = next(_moved(setup, broken), None) if broken else None
    for position, role in enumerate(broken):
        ids = role.ids or Ids()
        fix = Fix(f"write one range such as `{range_text(range(ids.lowest, ids.lowest + ids.distinct))}`, and move what is in its way")
        if found is not None:
            text = " and ".join(f"{each.key} `{range_text(its)}`" for each, its in zip(broken, found))
            others = [other for other in broken if other is not role]
            alone = _keeps_off(role, Ids((found[position],)), others)  # each edit is also made without the other
            fix = Fix(f"give {text}", _written(role, found[position]) if alone else None)
        component = setup.components[role.key]
        setup.components[role.key] = replace(component, fixes={**component.fixes, SOLID: fix})


def _moved(setup: Setup, broken: Sequence[Role]) -> Iterator[tuple[range, ...]]:
    """Ranges of the same sizes within what is used, which share with no role that they did not share with before."""
    held = [(role, role.ids) for role in setup.roles if role.created and role.ids is not None and role.ids.count]
    last = max(ids.highest for _, ids in held)
    ends = {0} | {edge for _, ids in held for each in ids.ranges[:MOST_TRIED] for edge in (each.start, each.stop)}
    others = [role for role, _ in held if role not in broken]
    sizes = [role.ids.distinct for role in broken if role.ids]
    starts = sorted(ends)
    choices = [[range(at, at + size) for at in islice(starts, MOST_TRIED) if at + size <= last + 1] for size in sizes]
    together = len(broken) == 2 and broken[0].ids and broken[1].ids and broken[0].ids.ranges == broken[1].ids.ranges
    for ranges in product(*choices):
        new = [Ids((its,)) for its in ranges]
        if len(new) == 2 and (ranges[0] != ranges[1] if together else common(new[0], new[1])):
            continue
        if all(_keeps_off(role, its, others) for role, its in zip(broken, new)):
            yield ranges


def _keeps_off(role: Role, ids: Ids, others: Sequence[Role]) -> bool:
    """True if these ids meet none of the roles that the role does not meet now."""
    return not any(other.ids and role.ids and common(other.ids, ids) and not common(other.ids, role.ids) for other in others)


def _written(role: Role, ids: range) -> Edit | None:
    """The edit that gives a role these ids; None where its own stand elsewhere."""
    value = role.mapping
    return Edit(value.span, in_flow_map(range_text(ids))) if isinstance(value, Scalar) and value.origin is None else None


# A teacher hands its logits to a student: data parallel ranks to data parallel ranks, GPU to GPU.
#
# Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).

MODE, NUMBERS = "PW123", "PW403"
MOST_RANKS = 512
"""Between so many ranks of either side all shifts are tried; an own limit."""
BACKEND, WAYS, NCCL = "logits_transfer_backend", ("ipc+nccl", "nccl-only", "ray"), "nccl-only"
_SOURCE = "ROLL, roll/pipeline/distill/logits_transfer_group.py"
Pairs = list[tuple[int, int]]
"""(teacher's, student's data parallel rank) of every transfer."""


@dataclass(frozen=True, slots=True)
class Side:
    """The ranks of one side that send or receive: those of the last pipeline stage with context parallel rank 0."""

    ids: Ids
    tp: int
    pp: int
    cp: int

    @property
    def dp(self) -> int:
        """Number of data parallel ranks."""
        return self.ids.count // (self.tp * self.pp * self.cp)

    def gpu(self, dp: int, tp: int = 0) -> int:
        """The id of a data parallel rank's tensor parallel rank: tp is the fastest dimension, then cp, dp and pp."""
        return self.ids.listed[(self.pp - 1) * (self.ids.count // self.pp) + dp * self.cp * self.tp + tp]


def logits_transfer(setup: Setup) -> None:
    """The backend is one that exists, the data parallel sizes divide, and NCCL never sends from a GPU to itself."""
    student, teacher = setup.role(STUDENTS), setup.role(TEACHERS)
    if student is None or teacher is None or not setup.since("0.1.3"):
        return
    facts = Facts(setup.notes, setup.settings, STUDENTS)
    OneOf(code=MODE, source=_SOURCE, when=AFTER_MODELS, key=BACKEND, values=WAYS).run(facts)
    by_nccl = setup.settings.word(BACKEND, MODE) == NCCL
    sender, receiver = _side(setup, teacher), _side(setup, student)
    if sender is None or receiver is None:
        return
    sends, receives = sender.dp, receiver.dp
    ratio = max(sends // receives, 1)
    pairs = [(its * ratio + index, its) for its in range(receives) for index in range(ratio)]
    if receives > sends:  # where they do not divide, also of teacher's ranks that there are not
        pairs = [(its // (receives // sends), its) for its in range(receives)]
    is_compared = by_nccl and max(sends, receives) <= MOST_RANKS
    existing = [pair for pair in pairs if pair[0] < sends]
    offset = sender.tp == 1 and any(_same_gpu(sender, receiver, pairs, offset, 0) is None for offset in range(1, sends))
    before = pairs[: next((index for index, (theirs, _) in enumerate(pairs) if theirs >= sends), len(pairs))]
    is_shifted = is_compared and offset and _same_gpu(sender, receiver, before, 0, 0) is not None
    _divided(setup, teacher, student, sends, receives, is_shifted)
    if by_nccl and not is_compared:
        setup.notes.unsure(MODE, student.key, f"more than {MOST_RANKS:,} data parallel ranks are not compared GPU by GPU")
    elif by_nccl:
        met = _same_gpu(sender, receiver, existing, 0, int(sender.tp > 1))
        shifts = sender.tp == 1 and any(_same_gpu(sender, receiver, existing, each, 0) is None for each in range(1, sends))
        if met is not None and not shifts:
            message = f"`{BACKEND}: {NCCL}` cannot send from a GPU to itself, but teacher and student meet on id {met}"
            at, edit = setup.settings.at(BACKEND) or student.place, setup.settings.becomes(BACKEND, WAYS[0])
            setup.notes.error(MODE, student.key, message, at, "", f"write `{BACKEND}: {WAYS[0]}`", edit, AFTER_MODELS)


def _side(setup: Setup, role: Role) -> Side | None:
    its = degrees(setup, role) if role.strategy in (*MEGATRON, *BY_ULYSSES) else None
    if its is None or role.ids is None or not role.ids.count or role.ids.count % its.parallel.replica:
        return None
    return Side(role.ids, its.tp.value, its.pp.value, its.cp.value)


def _divided(setup: Setup, teacher: Role, student: Role, sends: int, receives: int, is_shifted: bool) -> None:
    """Each student has a teacher, and each teacher a student. `is_shifted`: all have a teacher, but some not theirs."""
    fails = receives > sends and not is_shifted
    more, fewer, role = (receives, sends, student) if receives > sends else (sends, receives, teacher)
    lost = "some logits go nowhere" if sends > receives else "some get logits of other samples" if is_shifted else "some get no logits"
    Divides(
        code=NUMBERS, source=_SOURCE, when=AFTER_MODELS if fails else NEVER, severity=Severity.ERROR if fails else Severity.WARNING,
        left=Number(more, ""), right=Number(fewer, ""), help=f"give {role.key} a multiple of {fewer} data parallel ranks",
        message=f"{student.key} has {with_noun(receives, 'data parallel rank')} and {teacher.key} {sends}, {{rest}} left over: {lost}",
    ).run(RoleFacts(setup, role))  # fmt: skip


def _same_gpu(sender: Side, receiver: Side, pairs: Pairs, offset: int, other_tp: int) -> int | None:
    """The first GPU on which a transfer begins and ends, also from the tensor parallel rank `other_tp`; None without one."""
    for theirs, mine in pairs:
        gpu, source = receiver.gpu(mine), (theirs + offset) % sender.dp
        if sender.gpu(source) == gpu and sender.gpu(source, other_tp) == gpu:
            return gpu
    return None
