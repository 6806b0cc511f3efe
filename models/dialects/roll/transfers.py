"""Transfers between GPUs: weights (`actor_train` to `actor_infer`), logits (teacher to student)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product, takewhile
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
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AT_UPDATE, NEVER, SGLANG, STUDENTS, TEACHERS
from .strategies import data_parallel, degrees, in_groups_of

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
    train, infer, components = setup.role(ACTOR_TRAIN), setup.role(ACTOR_INFER), setup.components
    for role in (train, infer):
        if role is not None and (component := components.get(role.key)):
            components[role.key] = replace(component, contiguous=True, any_order=True)
    if train is None or infer is None:
        return
    per_worker = infer.num_gpus_per_worker
    if {train.key, infer.key} <= components.keys() and (train.ids is None or infer.ids is None):
        setup.in_step.append((train.key, infer.key))
        within = any(relation.kind == SUBSET and set(relation.components) == {train.key, infer.key} for relation in setup.hinted)
        is_open = train.ids is None and components[train.key].runs is None and infer.key not in setup.choices
        if within and is_open and per_worker:
            in_groups_of(setup, train, per_worker, infer.key)
    if train.on_devices and infer.on_devices:
        _add_range_fixes(setup, [role for role in (train, infer) if not role.devices.solid])
        is_shared = common(train.devices, infer.devices) and per_worker and infer.devices.count % per_worker == 0
        if is_shared and _are_in_step(setup, train, infer):
            _check_pairs(setup, train, infer)
            _check_reached(setup, train, infer)


def _are_in_step(setup: RollSetup, train: Role, infer: Role) -> bool:
    """Return True if training fills whole workers of inference; else add an error."""
    trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
    edges = {"begins": trains.lowest - infers.lowest, "ends": trains.highest - infers.highest}
    off = [f"{edge} {with_noun(abs(ids), 'id')} {'after' if ids > 0 else 'before'} it" for edge, ids in edges.items() if ids % per_worker]
    message = f"{train.key} ({write_ranks(trains.ranges)}) and {infer.key} ({write_ranks(infers.ranges)}) share GPUs, but"
    if off:
        message += f" {train.key} {' and '.join(off)}: not with whole workers of {per_worker} GPUs"
    elif trains.count % per_worker:
        ranks = f"the {with_noun(trains.count, 'rank')} of {train.key}"
        message += f" {ranks} {are(trains.count)} no whole groups for workers of {per_worker} GPUs"
    else:
        return True
    help = f"let {train.key} share whole workers of {infer.key}, each GPU written once, or no GPU"
    setup.notes.error(CODE, train.key, message, train.place, f"not in step with workers of {per_worker}", help, None, AFTER_MODELS)
    setup.notes.findings[-1] = replace(setup.notes.findings[-1], premises=(train.key, infer.key))  # judged by the ranks of both
    return False


def _check_pairs(setup: RollSetup, train: Role, infer: Role) -> None:
    """Check that every rank hands its weights to a worker on its own GPU, through GPU memory."""
    trains, infers, per_worker = train.devices.listed, infer.devices.listed, infer.num_gpus_per_worker
    shift = train.devices.lowest - infer.devices.lowest
    mismatch = difference(train.devices, infer.devices, shift)
    if mismatch is None:
        return
    rank, at = mismatch.position, mismatch.position + shift
    message = (
        f"rank {rank} of {train.key} is on {_place(trains[rank], setup.per_node)}, but hands its weights to worker {at // per_worker} of"
    )
    more = f" ({mismatch.count} ranks meet another GPU)" if mismatch.count > 1 else ""
    message += f" {infer.key} on {_place(infers[at], setup.per_node)}{more}"
    # A worker of sglang sees all GPUs of the worker.
    workers = [set(infers[first : first + per_worker]) for first in range(0, len(infers), per_worker)]
    beside = [(position, id_) for position, id_ in enumerate(trains, shift) if 0 <= position < len(infers)]
    fails = infer.strategy != SGLANG or any(id_ not in workers[position // per_worker] for position, id_ in beside)
    wrong = [role for role in (train, infer) if not role.devices.ascending]
    help, edit = f"write the ids of {train.key} and {infer.key} in ascending order, each once", None
    if len(wrong) == 1 and wrong[0].devices.solid and wrong[0].devices.count == wrong[0].devices.distinct:
        better = wrong[0].devices.ranges[0]
        help, edit = f"give {wrong[0].key} `{range_text(better)}`", _written(wrong[0], better)
    tell, when = (setup.notes.error, AT_UPDATE) if fails else (setup.notes.warn, NEVER)
    message += "" if fails else ": slow, but not refused"
    tell(CODE, train.key, message, train.place, f"rank {rank} is on id {trains[rank]}", help, edit, when)


def _check_reached(setup: RollSetup, train: Role, infer: Role) -> None:
    """Check that every inference worker gets weights, from its ranks or from rank 0."""
    trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
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
        lowest, distinct = role.devices.lowest, role.devices.distinct
        fix = Fix(f"write one range such as `{range_text(range(lowest, lowest + distinct))}`, and move what is in its way")
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
    with_devices = [role for role in setup.roles if role.created and role.on_devices]
    unchanged = [role for role in with_devices if role not in broken]
    end = max(role.devices.highest for role in with_devices) + 1
    occupied = [ids_range for role in with_devices for ids_range in role.devices.ranges[:MOST_TRIED]]
    starts = sorted({0, *(ids_range.start for ids_range in occupied), *(ids_range.stop for ids_range in occupied)})[:MOST_TRIED]
    sizes = [role.devices.distinct for role in broken]
    together = len(broken) == 2 and broken[0].devices.ranges == broken[1].devices.ranges
    for ranges in product(*([range(at, at + size) for at in starts if at + size <= end] for size in sizes)):
        new = [Ids((new_range,)) for new_range in ranges]
        if len(new) == 2 and (ranges[0] != ranges[1] if together else common(new[0], new[1])):
            continue
        if all(_adds_no_sharing(role, new_ids, unchanged) for role, new_ids in zip(broken, new)):
            yield ranges


def _adds_no_sharing(role: Role, ids: Ids, neighbors: Sequence[Role]) -> bool:
    """Return True if the ids cause no new sharing with a role."""
    return not any(common(neighbor.devices, ids) and not common(neighbor.devices, role.devices) for neighbor in neighbors)


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
        """Return the id of a data parallel rank's tensor parallel rank, in the order tp, cp, dp, pp."""
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
    if receives > sends:  # uneven sizes give teacher ranks that do not exist
        pairs = [(rank // (receives // sends), rank) for rank in range(receives)]
    else:
        ratio = sends // receives
        pairs = [(rank * ratio + index, rank) for rank in range(receives) for index in range(ratio)]
    is_compared = by_nccl and max(sends, receives) <= MOST_RANKS
    before = list(takewhile(lambda pair: pair[0] < sends, pairs))
    is_shifted = is_compared and _shifts_apart(sender, receiver, pairs) and _same_gpu(sender, receiver, before, 0, 0) is not None
    _check_divided(setup, teacher, student, sends, receives, is_shifted)
    if by_nccl and not is_compared:
        setup.notes.unsure(MODE, student.key, f"more than {MOST_RANKS:,} data parallel ranks are not compared GPU by GPU")
    elif by_nccl:
        existing = [pair for pair in pairs if pair[0] < sends]
        met = _same_gpu(sender, receiver, existing, 0, int(sender.tp > 1))
        if met is not None and not _shifts_apart(sender, receiver, existing):
            message = f"`{BACKEND}: {NCCL}` cannot send from a GPU to itself, but teacher and student meet on id {met}"
            at, edit = setup.settings.at(BACKEND) or student.place, setup.settings.becomes(BACKEND, WAYS[0])
            setup.notes.error(MODE, student.key, message, at, "", f"write `{BACKEND}: {WAYS[0]}`", edit, AFTER_MODELS)


def _side(setup: RollSetup, role: Role) -> TransferSide | None:
    if not (role.by_megatron or role.by_ulysses) or not data_parallel(setup, role):
        return None
    parallel = degrees(setup, role)
    return TransferSide(role.devices, parallel.tp.value, parallel.pp.value, parallel.cp.value) if parallel else None


def _check_divided(setup: RollSetup, teacher: Role, student: Role, sends: int, receives: int, is_shifted: bool) -> None:
    """Check that every student rank has a teacher rank (a wrong one if `is_shifted`), and the reverse."""
    fails = receives > sends and not is_shifted
    more, fewer, role = (receives, sends, student) if receives > sends else (sends, receives, teacher)
    lost = "some logits go nowhere" if sends > receives else "some get logits of other samples" if is_shifted else "some get no logits"
    Divides(
        code=NUMBERS, source=_SOURCE, when=AFTER_MODELS if fails else NEVER, severity=Severity.ERROR if fails else Severity.WARNING,
        left=Number(more, ""), right=Number(fewer, ""), help=f"give {role.key} a multiple of {fewer} data parallel ranks",
        message=f"{student.key} has {with_noun(receives, 'data parallel rank')} and {teacher.key} {sends}, {{rest}} left over: {lost}",
    ).run(RoleFacts(setup, role))  # fmt: skip


def _shifts_apart(sender: TransferSide, receiver: TransferSide, pairs: Pairs) -> bool:
    """Return True if some shift of the teacher's ranks lets no GPU send to itself."""
    return sender.tp == 1 and any(_same_gpu(sender, receiver, pairs, shift, 0) is None for shift in range(1, sender.dp))


def _same_gpu(sender: TransferSide, receiver: TransferSide, pairs: Pairs, offset: int, other_tp: int) -> int | None:
    """Return the first GPU that both sends, from rank `other_tp` too, and receives; None if there is none."""
    for teacher_rank, student_rank in pairs:
        gpu, source = receiver.gpu(student_rank), (teacher_rank + offset) % sender.dp
        if sender.gpu(source) == gpu and sender.gpu(source, other_tp) == gpu:
            return gpu
    return None
