"""Times so short that what they are rounded up by matters."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....models.planning.question import Question
from ...wording import listed
from ..asking.interpolation import GRAIN
from .basis import FORMULA, MEASURED, Basis

MATTERS = 1000
"""A step that is no more than this part of a time is not told."""


def rounded(question: Question, bases: Sequence[Basis]) -> Iterator[str]:
    """One sentence for each step, ns, that is over a thousandth of some times: each batch takes whole nanoseconds, what was not measured whole microseconds."""
    found: dict[int, list[str]] = {}
    for basis in bases:
        step = max(question.batches, 1 if basis.kind in (MEASURED, FORMULA) else GRAIN)
        if basis.nanoseconds < step * MATTERS:
            found.setdefault(step, []).append(str(basis.task))
    for step, names in found.items():
        batches = f", one for each of {question.batches} batches" if step == question.batches > 1 else ""
        what = {1: "a nanosecond", GRAIN: "a microsecond"}.get(step, f"{step:,} nanoseconds")
        yield f"{listed(names)}: such short times are rounded to {what}{batches}"
