"""Transfers between GPUs: weights (`actor_train` to `actor_infer`), logits (teacher to student)."""

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
from .job import Role, RoleFacts, RollSetup
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AT_UPDATE, BY_ULYSSES, MEGATRON, NEVER, SGLANG, STUDENTS, TEACHERS
from .strategies import degrees, in_groups_of

CODE, SOLID = "PW217", "PW205"
MOST_TRIED = 24
"""Limit on the candidate starts of a role: edges of occupied ranges."""


def check_model_update(setup: RollSetup) -> None:
    """Demand solid ranges of both roles; compare explicit ones with shared GPUs.

    Source: ROLL, roll/distributed/executor/model_update_group.py;
    roll/third_party/megatron/model_update.py and roll/third_party/fsdp2/model_update.py
    (_setup_colocated_model_update).
    """
    # Older releases broadcast weights to any ranks.
    if not setup.pipeline.updates_models or not setup.since("0.2.0"):
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
    _add_range_fixes(setup, [role for role in (train, infer) if role.ids is not None and not role.ids.solid])
    per_worker = infer.num_gpus_per_worker
    if (
        common(train.ids, infer.ids)
        and per_worker
        and infer.ids.count % per_worker == 0
        and _in_step(setup, train, infer, train.ids, infer.ids)
    ):
        _check_pairs(setup, train, infer, train.ids, infer.ids)
        _reached(setup, infer, train.ids, infer.ids)


def _in_step(setup: RollSetup, train: Role, infer: Role, trains: Ids, infers: Ids) -> bool:
    """Return True if training fills whole workers of inference; else add an error."""
    per_worker = infer.num_gpus_per_worker
    edges = {"begins": trains.lowest - infers.lowest, "ends": trains.highest - infers.highest}
    off = [f"{edge} {with_noun(abs(ids), 'id')} {'after' if ids > 0 else 'before'} it" for edge, ids in edges.items() if ids % per_worker]
    message = f"{train.key} ({write_ranks(trains.ranges)}) and {infer.key} ({write_ranks(infers.ranges)}) share GPUs, but"
    if off:
        message += f" {train.key} {' and '.join(off)}: not with whole workers of {per_worker} GPUs"
    elif trains.count % per_worker:
        message += (
            f" the {with_noun(trains.count, 'rank')} of {train.key} {are(trains.count)} no whole groups for workers of {per_worker} GPUs"
        )
    else:
        return True
    help = f"let {train.key} share whole workers of {infer.key}, each GPU written once, or no GPU"
    setup.notes.error(CODE, train.key, message, train.place, f"not in step with workers of {per_worker}", help, None, AFTER_MODELS)
    setup.notes.findings[-1] = replace(setup.notes.findings[-1], premises=(train.key, infer.key))  # judged by the ranks of both
    return False


def _check_pairs(setup: RollSetup, train: Role, infer: Role, trains: Ids, infers: Ids) -> None:
    """Check that every rank hands its weights to a worker on its own GPU.

    Weights go through GPU memory.
    """
    shift, per_worker, infer_ids = trains.lowest - infers.lowest, infer.num_gpus_per_worker, infers.listed
    mismatch = difference(trains, infers, shift)
    if mismatch is None:
        return
    train_id, infer_id, worker = (
        trains.listed[mismatch.position],
        infer_ids[mismatch.position + shift],
        (mismatch.position + shift) // per_worker,
    )
    message = (
        f"rank {mismatch.position} of {train.key} is on {_place(train_id, setup.per_node)}, but hands its weights to worker {worker} of"
    )
    message += f" {infer.key} on {_place(infer_id, setup.per_node)}" + (
        f" ({mismatch.count} ranks meet another GPU)" if mismatch.count > 1 else ""
    )
    # A worker of sglang sees all GPUs of the worker.
    beside = [(position, id_) for position, id_ in enumerate(trains, shift) if 0 <= position < len(infer_ids)]
    fails = infer.strategy != SGLANG or any(
        id_ not in infer_ids[at // per_worker * per_worker : (at // per_worker + 1) * per_worker] for at, id_ in beside
    )
    wrong = [(role, role.ids) for role in (train, infer) if role.ids is not None and not role.ids.ascending]
    help, edit = f"write the ids of {train.key} and {infer.key} in ascending order, each once", None
    if len(wrong) == 1 and all(ids.solid and ids.count == ids.distinct for _, ids in wrong):
        role, ids = wrong[0]
        better = range(ids.lowest, ids.highest + 1)
        help, edit = f"give {role.key} `{range_text(better)}`", _written(role, better)
    message += "" if fails else ": slow, but not refused"
    tell, label, when = setup.notes.error, f"rank {mismatch.position} is on id {train_id}", AT_UPDATE
    if not fails:
        tell, when = setup.notes.warn, NEVER
    tell(CODE, train.key, message, train.place, label, help, edit, when)


def _reached(setup: RollSetup, infer: Role, trains: Ids, infers: Ids) -> None:
    """Check that every inference worker gets weights, from its ranks or from rank 0."""
    per_worker = infer.num_gpus_per_worker
    first, last = (trains.lowest - infers.lowest) // per_worker, (trains.highest - infers.highest) // per_worker
    workers = infers.count // per_worker
    met, before, after = range(first, first + trains.count // per_worker), range(max(first, 0)), range(workers + min(last, 0), workers)
    missed = without([range(workers)], merge([met, before, after]))
    if missed:
        count = sum(map(len, missed))
        more = f" ({count} workers do not)" if count > 1 else ""
        message = f"worker {missed[0][0]} of {infer.key} never gets new weights{more}: it goes on with those it started with"
        setup.notes.error(CODE, infer.key, message, infer.place, "is not reached", "write every id once", None, NEVER)


def _place(id_: int, per_node: int) -> str:
    return f"GPU {id_ % per_node} of node {id_ // per_node}"


# Solid ranges for roles with holes; disjoint roles stay disjoint.


def _add_range_fixes(setup: RollSetup, broken: Sequence[Role]) -> None:
    """Add a fix to roles with holes: a range, and a new range for the partner if needed."""
    new_ranges = next(_moved(setup, broken), None) if broken else None
    for position, role in enumerate(broken):
        ids = role.ids or Ids()
        fix = Fix(f"write one range such as `{range_text(range(ids.lowest, ids.lowest + ids.distinct))}`, and move what is in its way")
        if new_ranges is not None:
            text = " and ".join(f"{member.key} `{range_text(new_range)}`" for member, new_range in zip(broken, new_ranges))
            partners = [partner for partner in broken if partner is not role]
            # Users may apply the edit alone.
            alone = _adds_no_sharing(role, Ids((new_ranges[position],)), partners)
            fix = Fix(f"give {text}", _written(role, new_ranges[position]) if alone else None)
        component = setup.components[role.key]
        setup.components[role.key] = replace(component, fixes={**component.fixes, SOLID: fix})


def _moved(setup: RollSetup, broken: Sequence[Role]) -> Iterator[tuple[range, ...]]:
    """Yield ranges of the same sizes within the used ids, without new sharing."""
    with_devices = [(role, role.ids) for role in setup.roles if role.created and role.ids is not None and role.ids.count]
    last = max(ids.highest for _, ids in with_devices)
    ends = {0} | {edge for _, ids in with_devices for ids_range in ids.ranges[:MOST_TRIED] for edge in (ids_range.start, ids_range.stop)}
    unchanged = [role for role, _ in with_devices if role not in broken]
    sizes = [role.ids.distinct for role in broken if role.ids]
    starts = sorted(ends)
    choices = [[range(at, at + size) for at in islice(starts, MOST_TRIED) if at + size <= last + 1] for size in sizes]
    together = len(broken) == 2 and broken[0].ids and broken[1].ids and broken[0].ids.ranges == broken[1].ids.ranges
    for ranges in product(*choices):
        new = [Ids((new_range,)) for new_range in ranges]
        if len(new) == 2 and (ranges[0] != ranges[1] if together else common(new[0], new[1])):
            continue
        if all(_adds_no_sharing(role, new_ids, unchanged) for role, new_ids in zip(broken, new)):
            yield ranges


def _adds_no_sharing(role: Role, ids: Ids, neighbors: Sequence[Role]) -> bool:
    """Return True if the ids cause no new sharing with a role."""
    return not any(neighbor.ids and role.ids and common(neighbor.ids, ids) and not common(neighbor.ids, role.ids) for neighbor in neighbors)


def _written(role: Role, ids: range) -> Edit | None:
    """Return the edit of a role's ids; None if the text stands elsewhere."""
    value = role.mapping
    return Edit(value.span, in_flow_map(range_text(ids))) if isinstance(value, Scalar) and value.origin is None else None


# Logits: data parallel ranks of the teacher send to those of the student, GPU to GPU.
#
# Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).

MODE, NUMBERS = "PW123", "PW403"
MOST_RANKS = 512
"""Limit on ranks of either side for trials of all shifts; our own."""
BACKEND, WAYS, NCCL = "logits_transfer_backend", ("ipc+nccl", "nccl-only", "ray"), "nccl-only"
_SOURCE = "ROLL, roll/pipeline/distill/logits_transfer_group.py"
Pairs = list[tuple[int, int]]
"""(teacher's data parallel rank, student's) of every transfer."""


@dataclass(frozen=True, slots=True)
class TransferSide:
    """Sending or receiving ranks: last pipeline stage, context parallel rank 0."""

    ids: Ids
    tp: int
    pp: int
    cp: int

    @property
    def dp(self) -> int:
        """Number of data parallel ranks."""
        return self.ids.count // (self.tp * self.pp * self.cp)

    def gpu(self, dp: int, tp: int = 0) -> int:
        """Return the id of a data parallel rank's tensor parallel rank.

        From the fastest dimension to the slowest: tp, cp, dp, pp.
        """
        return self.ids.listed[(self.pp - 1) * (self.ids.count // self.pp) + dp * self.cp * self.tp + tp]


def check_logits_transfer(setup: RollSetup) -> None:
    """Check the backend, the data parallel sizes, and that NCCL never sends to itself."""
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
    pairs = [(rank * ratio + index, rank) for rank in range(receives) for index in range(ratio)]
    if receives > sends:  # uneven sizes give teacher ranks that do not exist
        pairs = [(rank // (receives // sends), rank) for rank in range(receives)]
    is_compared = by_nccl and max(sends, receives) <= MOST_RANKS
    existing = [pair for pair in pairs if pair[0] < sends]
    offset = sender.tp == 1 and any(_same_gpu(sender, receiver, pairs, offset, 0) is None for offset in range(1, sends))
    before = pairs[: next((index for index, (teacher_rank, _) in enumerate(pairs) if teacher_rank >= sends), len(pairs))]
    is_shifted = is_compared and offset and _same_gpu(sender, receiver, before, 0, 0) is not None
    _divided(setup, teacher, student, sends, receives, is_shifted)
    if by_nccl and not is_compared:
        setup.notes.unsure(MODE, student.key, f"more than {MOST_RANKS:,} data parallel ranks are not compared GPU by GPU")
    elif by_nccl:
        met = _same_gpu(sender, receiver, existing, 0, int(sender.tp > 1))
        shifts = sender.tp == 1 and any(_same_gpu(sender, receiver, existing, shift, 0) is None for shift in range(1, sends))
        if met is not None and not shifts:
            message = f"`{BACKEND}: {NCCL}` cannot send from a GPU to itself, but teacher and student meet on id {met}"
            at, edit = setup.settings.at(BACKEND) or student.place, setup.settings.becomes(BACKEND, WAYS[0])
            setup.notes.error(MODE, student.key, message, at, "", f"write `{BACKEND}: {WAYS[0]}`", edit, AFTER_MODELS)


def _side(setup: RollSetup, role: Role) -> TransferSide | None:
    role_degrees = degrees(setup, role) if role.strategy in (*MEGATRON, *BY_ULYSSES) else None
    if role_degrees is None or role.ids is None or not role.ids.count or role.ids.count % role_degrees.parallel.replica:
        return None
    return TransferSide(role.ids, role_degrees.tp.value, role_degrees.pp.value, role_degrees.cp.value)


def _divided(setup: RollSetup, teacher: Role, student: Role, sends: int, receives: int, is_shifted: bool) -> None:
    """Check that every student rank has a teacher rank, and the reverse.

    `is_shifted`: every student rank has a teacher rank, but some a wrong one.
    """
    fails = receives > sends and not is_shifted
    more, fewer, role = (receives, sends, student) if receives > sends else (sends, receives, teacher)
    lost = "some logits go nowhere" if sends > receives else "some get logits of other samples" if is_shifted else "some get no logits"
    Divides(
        code=NUMBERS, source=_SOURCE, when=AFTER_MODELS if fails else NEVER, severity=Severity.ERROR if fails else Severity.WARNING,
        left=Number(more, ""), right=Number(fewer, ""), help=f"give {role.key} a multiple of {fewer} data parallel ranks",
        message=f"{student.key} has {with_noun(receives, 'data parallel rank')} and {teacher.key} {sends}, {{rest}} left over: {lost}",
    ).run(RoleFacts(setup, role))  # fmt: skip


def _same_gpu(sender: TransferSide, receiver: TransferSide, pairs: Pairs, offset: int, other_tp: int) -> int | None:
    """Return the first GPU that both sends and receives; None if there is none.

    The tensor parallel rank `other_tp` must send from it too.
    """
    for teacher_rank, student_rank in pairs:
        gpu, source = receiver.gpu(student_rank), (teacher_rank + offset) % sender.dp
        if sender.gpu(source) == gpu and sender.gpu(source, other_tp) == gpu:
            return gpu
    return None
