"""A teacher hands its logits to a student: data parallel ranks to data parallel ranks, GPU to GPU.

Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).
"""

from __future__ import annotations

from typing import Iterator

from ...findings.wording import with_noun
from ...record import dataclass
from ...text.tree import Scalar
from .ids import Ids
from .job import Role, Setup
from .names import STUDENTS, TEACHERS
from .names import AFTER_MODELS, NEVER
from .strategies import BY_ULYSSES, MEGATRON, degrees

MODE, NUMBERS = "PW123", "PW403"
MOST_RANKS = 512
"""Between so many ranks of either side all shifts are tried; an own limit."""
BACKEND, WAYS, NCCL = "logits_transfer_backend", ("ipc+nccl", "nccl-only", "ray"), "nccl-only"


@dataclass(frozen=True, slots=True)
class Side:
    """The ranks of one side that send or receive: those of the last pipeline stage with context parallel rank 0."""

    ids: Ids
    tp: int
    pp: int
    cp: int

    @property
    def dp(self) -> int:
        """How many data parallel ranks there are."""
        return self.ids.count // (self.tp * self.pp * self.cp)

    def gpu(self, dp: int, tp: int = 0) -> int:
        """The id of a data parallel rank's tensor parallel rank: tp is the fastest dimension, then cp, dp and pp."""
        return self.ids.listed[(self.pp - 1) * (self.ids.count // self.pp) + dp * self.cp * self.tp + tp]


def logits_transfer(setup: Setup) -> None:
    """The backend is one that exists, the data parallel sizes divide, and NCCL never sends from a GPU to itself."""
    student, teacher = setup.role(STUDENTS), setup.role(TEACHERS)
    if student is None or teacher is None or not setup.since("0.1.3"):
        return
    backend = _backend(setup)
    sender, receiver = _side(setup, teacher), _side(setup, student)
    if sender is None or receiver is None:
        return
    pairs = _transfers(sender.dp, receiver.dp)
    shifts = backend == NCCL and max(sender.dp, receiver.dp) <= MOST_RANKS and _shifted(sender, receiver, pairs)
    _divided(setup, teacher, student, sender.dp, receiver.dp, shifts)
    if backend == NCCL and max(sender.dp, receiver.dp) > MOST_RANKS:
        why = f"more than {MOST_RANKS:,} data parallel ranks are not compared GPU by GPU"
        setup.notes.unsure(MODE, student.key, why)
    elif backend == NCCL:
        _by_nccl(setup, student, sender, receiver, [pair for pair in pairs if pair[0] < sender.dp])


def _backend(setup: Setup) -> str | None:
    word = setup.settings.word(BACKEND, MODE)
    if word and word not in WAYS:
        message = f"`{BACKEND}` is `{word}`, which is none of {', '.join(f'`{way}`' for way in WAYS)}"
        at = setup.settings.at(BACKEND)
        edit = setup.settings.becomes(BACKEND, WAYS[0])
        setup.notes.error(MODE, STUDENTS, message, at or setup.top, "not a backend", f"write `{WAYS[0]}`, the default", edit, AFTER_MODELS)
    return word


def _side(setup: Setup, role: Role) -> Side | None:
    its = degrees(setup, role) if role.strategy in (*MEGATRON, *BY_ULYSSES) else None
    if its is None or role.ids is None or not role.ids.count or role.ids.count % its.parallel.replica:
        return None
    return Side(role.ids, its.tp.value, its.pp.value, its.cp.value)


def _transfers(sends: int, receives: int) -> list[tuple[int, int]]:
    """(teacher's, student's data parallel rank) of every transfer; where they do not divide, also of teacher's ranks that there are not."""
    if sends >= receives:
        ratio = sends // receives
        return [(its * ratio + index, its) for its in range(receives) for index in range(ratio)]
    return [(its // (receives // sends), its) for its in range(receives)]


def _divided(setup: Setup, teacher: Role, student: Role, sends: int, receives: int, shifted: bool) -> None:
    """Each student has a teacher, and each teacher a student. `shifted`: the ranks are counted round, so that all have one, but not theirs."""
    if receives > sends and receives % sends:
        message = f"{student.key} has {with_noun(receives, 'data parallel rank')} and {teacher.key} {sends}: "
        message += "some get logits of other samples" if shifted else "some get no logits"
        help = f"give {student.key} a multiple of {sends} data parallel ranks"
        tell = setup.notes.warn if shifted else setup.notes.error
        tell(NUMBERS, student.key, message, student.place, f"dp {receives}", help, None, NEVER if shifted else AFTER_MODELS)
    if sends > receives and sends % receives:
        unused = sends - sends // receives * receives
        message = (
            f"{teacher.key} has {with_noun(sends, 'data parallel rank')} and {student.key} {receives}: the logits of {unused} go nowhere"
        )
        help = f"give {teacher.key} a multiple of {receives} data parallel ranks"
        setup.notes.warn(NUMBERS, teacher.key, message, teacher.place, f"dp {sends}", help, None, NEVER)


def _shifted(sender: Side, receiver: Side, pairs: list[tuple[int, int]]) -> bool:
    """Does NCCL shift the ranks before it comes to a teacher's rank that there is not?"""
    before = next((index for index, (theirs, _) in enumerate(pairs) if theirs >= sender.dp), len(pairs))
    clash = next(_same_gpu(sender, receiver, pairs[:before], 0, 0), None) is not None
    return sender.tp == 1 and clash and _has_offset(sender, receiver, pairs)


def _has_offset(sender: Side, receiver: Side, pairs: list[tuple[int, int]]) -> bool:
    return any(next(_same_gpu(sender, receiver, pairs, offset, 0), None) is None for offset in range(1, sender.dp))


def _by_nccl(setup: Setup, student: Role, sender: Side, receiver: Side, pairs: list[tuple[int, int]]) -> None:
    """Where both are on one GPU the teacher's next tensor parallel rank sends, or without one all are shifted."""
    met = next(_same_gpu(sender, receiver, pairs, 0, int(sender.tp > 1)), None)
    if met is None:
        return
    if sender.tp == 1 and _has_offset(sender, receiver, pairs):
        return
    message = f"`{BACKEND}: {NCCL}` cannot send from a GPU to itself, but teacher and student meet on id {met}"
    message += "" if sender.tp > 1 else ", however their ranks are shifted against each other"
    value = setup.settings.at(BACKEND)
    at_ = value if isinstance(value, Scalar) else student.place
    edit = setup.settings.becomes(BACKEND, WAYS[0])
    setup.notes.error(MODE, student.key, message, at_, "", f"write `{BACKEND}: {WAYS[0]}`", edit, AFTER_MODELS)


def _same_gpu(sender: Side, receiver: Side, pairs: list[tuple[int, int]], offset: int, other_tp: int) -> Iterator[int]:
    """The GPUs on which a transfer begins and ends, those left out where the tensor parallel rank `other_tp` is on another one."""
    for theirs, mine in pairs:
        gpu = receiver.gpu(mine)
        source = (theirs + offset) % sender.dp
        if sender.gpu(source) == gpu and sender.gpu(source, other_tp) == gpu:
            yield gpu
