"""The batches of supervised fine-tuning, among the processes that torchrun starts.

Source: verl, verl/trainer/fsdp_sft_trainer.py, FSDPSFTTrainer._normalize_config_bsz.
"""

from __future__ import annotations

from .....findings.wording import are, with_noun
from ...entries.programs import PROCESSES
from ..notices import IN_WORKERS
from ..work import DEGREES, NUMBERS, SHARES, Work, divisors, nearest, next_to

SEQUENCE = "ulysses_sequence_parallel_size"


def judge_ranks_of_tuning(work: Work) -> None:
    """Sequence parallel ranks divide the world."""
    ranks, sequence = _ranks(work), work.amount(SEQUENCE, DEGREES) if _is_tuning(work) else None
    if ranks and sequence and ranks % sequence.value:
        message = f"the {with_noun(ranks, 'process')} cannot be divided into {sequence.value} sequence parallel ranks: {ranks % sequence.value} would be left"
        better = next_to(sequence.value, divisors(ranks))
        work.tell(DEGREES, "actor", message, sequence.span, work.set(sequence, *better), None, with_noun(ranks, "process"), IN_WORKERS)


def judge_tuning(work: Work) -> None:
    """The batch divides among the data parallel ranks, and the part of a rank into micro batches."""
    ranks = _ranks(work)
    if not _is_tuning(work) or not ranks:
        return
    batch, micro, sequence = (work.amount(key, SHARES) for key in ("data.train_batch_size", "data.micro_batch_size_per_gpu", SEQUENCE))
    parts = sequence.value if sequence else 1
    if not batch or ranks % parts:
        return
    ranks //= parts
    if batch.value % ranks:
        message = f"{work.said(batch)} does not divide among {ranks} data parallel ranks: {batch.value % ranks} would be left"
        better = nearest(batch.value, ranks)
        close = min(better, key=lambda value: abs(value - batch.value))
        work.tell(SHARES, "actor", message, batch.span, work.set(batch, *better), batch.becomes(close), "", IN_WORKERS)
    elif micro and batch.value // ranks % micro.value:
        mine = batch.value // ranks
        message = f"the {with_noun(mine, 'sample')} of a rank ({batch.value} // {ranks}) {are(mine)} no multiple of {work.said(micro)}"
        better = next_to(micro.value, divisors(mine))
        close = min(better, key=lambda value: abs(value - micro.value))
        work.tell(NUMBERS, "actor", message, micro.span, work.set(micro, *better), micro.becomes(close), "", IN_WORKERS)


def _is_tuning(work: Work) -> bool:
    return work.setup.entry.program == PROCESSES.program


def _ranks(work: Work) -> int | None:
    return work.setup.world_size("actor")
