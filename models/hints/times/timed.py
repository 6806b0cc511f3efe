"""What the hints of a component say of the time that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...component import UNBOUNDED
from ...planning.workload import Timed

if TYPE_CHECKING:
    from ..forms import ComponentForm


def timed(form: ComponentForm, count: int) -> Timed | None:
    """Its times; None if it has none. A time without a count holds for as many accelerators as the component asks for (see `countless`)."""
    if form.seconds is None:
        return None
    alone = form.phase[0] if len(form.phase) == 1 else ""
    rows = (row if row.phase else row.changed(phase=alone) for row in form.seconds)
    return Timed(tuple(row.measured(count) for row in rows), form.scaling, form.samples or 0)


def countless(form: ComponentForm, least: int, most: int) -> bool:
    """Is a time given without a count, and the component may have one or another between these?"""
    return least != most and any(row.accelerators is None for row in form.seconds or ())


def example(least: int = 1, most: int = UNBOUNDED, step: int = 1) -> str:
    """How a time is written, such as ``{8: 120}``, with a count between these that is a multiple of `step`; the usual 8 where that can be."""
    lowest = -(-max(least, 1) // step) * step
    return f"{{{max(min(8, most) // step * step, lowest)}: 120}}"


def contradicted(times: Timed) -> str:
    """Where two of the times differ of what is the same, such as `8 accelerators with tp 2`; "" where none do."""
    known: dict[tuple[object, ...], int] = {}
    for each in times.measured:
        same = (each.phase, each.accelerators, each.model, each.parallel, each.named)
        if known.setdefault(same, each.nanoseconds) != each.nanoseconds:
            phase, model = f"{each.phase} on " if each.phase else "", f" {each.model}" if each.model else ""
            return f"{phase}{each.accelerators}{model or ' accelerators'}{f' with {each.degrees}' if each.degrees else ''}"
    return ""
