"""Impossible counts in a list: too large, or no whole number of replicas."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ..component import Component, Parallel
from ..findings.finding import Finding, warning
from ..findings.wording import are, with_noun
from ..machines.node_group import ACCELERATOR
from ..quantity import write_range
from ..text.tree import ListNode, Scalar, Value, find, plain
from ..text.values import amount

KEYS = ("accelerators", "processes")


def impossible_counts(component: Component, choices: Sequence[Parallel], value: Value, room: int, kind: str) -> Iterator[Finding]:
    """Yield a warning per impossible count in a list with possible counts.

    If no count is possible, another error says so. `choices` are the possible degrees, `room` the
    number of resources of `kind`.
    """
    if component.runs is not None or not component.counts:
        return
    steps = [replace(component, parallel=parallel).step for parallel in choices]
    noun = "accelerator" if kind == ACCELERATOR else kind
    for key in KEYS:
        written = find(value, key)
        items = [item for item in written.items if isinstance(item, Scalar)] if isinstance(written, ListNode) else []
        per_process = component.per_process if key == "processes" else 1
        warnings = []
        for item in items:
            low, high = amount(plain(item))
            name = f"{write_range((low, high))} {key}"
            if low * per_process > room:
                message = f"`{component.name}` never has {name}: there {are(room)} {with_noun(room, noun)}"
                warnings.append(warning("PW121", component.name, message, item.span, label="never", help="leave it out of the list"))
            elif all(-(-low * per_process // step) * step > high * per_process for step in steps):
                multiples = " or ".join(map(str, dict.fromkeys(steps)))
                message = f"`{component.name}` never has {name}: it has a multiple of {multiples}"
                warnings.append(
                    warning(
                        "PW121", component.name, message, item.span, label=f"no multiple of {multiples}", help="leave it out of the list"
                    )
                )
        if len(warnings) < len(items):
            yield from warnings
