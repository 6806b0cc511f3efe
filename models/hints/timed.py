"""What the hints of a component say of the time that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..planning.workload import Timed

if TYPE_CHECKING:
    from .forms import ComponentForm


def timed(form: ComponentForm) -> Timed | None:
    """Its times; None if it has none. A time without a count holds for as many as the component asks for (see `countless`)."""
    if form.seconds is None:
        return None
    amount = form.accelerators or form.processes or (1, 1)
    alone = form.phase[0] if len(form.phase) == 1 else ""
    rows = (row if row.phase else row.model_copy(update={"phase": alone}) for row in form.seconds)
    return Timed(tuple(row.measured(amount[0]) for row in rows), form.scaling, form.samples or 0)


def countless(form: ComponentForm) -> bool:
    """Is a time given without a count, and the component may have one or another?"""
    amount = form.accelerators or form.processes
    open_ = amount is None or amount[0] != amount[1]
    return open_ and any(row.accelerators is None for row in form.seconds or ())


def contradicted(times: Timed) -> str:
    """Where two of the times differ of what is the same, such as `8 accelerators with tp 2`; "" where none do."""
    known: dict[tuple[object, ...], int] = {}
    for each in times.measured:
        same = (each.phase, each.accelerators, each.model, each.parallel, each.named)
        if known.setdefault(same, each.nanoseconds) != each.nanoseconds:
            phase, model = f"{each.phase} on " if each.phase else "", f" {each.model}" if each.model else ""
            return f"{phase}{each.accelerators}{model or ' accelerators'}{f' with {each.degrees}' if each.degrees else ''}"
    return ""
