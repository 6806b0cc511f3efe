"""A teacher hands its logits to a student: data parallel ranks to data parallel ranks, GPU to GPU.

Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).
"""

from __future__ import annotations

from ...findings.finding import Severity
from ...findings.wording import with_noun
from ...record import dataclass
from ..checks import Divides, Facts, Number, OneOf
from .ids import Ids
from .job import Role, RoleFacts, Setup
from .names import AFTER_MODELS, NEVER, STUDENTS, TEACHERS
from .strategies import BY_ULYSSES, MEGATRON, degrees

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
