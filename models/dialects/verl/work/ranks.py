"""How many data parallel ranks a component has, where that comes out even."""

from __future__ import annotations

from ..components.parallel import OWNERS
from ..entries import Kind
from .work import DEGREES, Work


def data_parallel(work: Work, name: str) -> int | None:
    """Ranks that get samples of their own; None where they are not known or do not come out even, which other rules say."""
    ranks, component = work.setup.world_size(name), work.setup.component(name)
    if ranks is None or component is None or name not in OWNERS:
        return None
    size = component.parallel.replica
    if work.is_trained_by(OWNERS[name]) == "fsdp":
        key = (
            "ulysses_sequence_parallel_size"
            if work.setup.entry.kind is Kind.PROCESSES
            else f"{OWNERS[name]}.ulysses_sequence_parallel_size"
        )
        sequence = work.amount(key, DEGREES)
        size = sequence.value if sequence else 1
    return ranks // size if ranks % size == 0 and ranks >= size else None
