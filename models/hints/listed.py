"""Counts of a list that can never be: more than there are, or no whole number of replicas with any of the degrees."""

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


def never(component: Component, choices: Sequence[Parallel], value: Value, room: int, kind: str) -> Iterator[Finding]:
    """A warning for each count of a list that is never planned, where others of it may be: where none may, that is an error of its own.

    `choices` are the degrees that it may have, `room` is how many resources of its `kind` there are.
    """
    if component.runs is not None or not component.counts:
        return
    steps = [replace(component, parallel=parallel).step for parallel in choices]
    noun = "accelerator" if kind == ACCELERATOR else kind
    for key in KEYS:
        written = find(value, key)
        items = [item for item in written.items if isinstance(item, Scalar)] if isinstance(written, ListNode) else []
        each = component.per_process if key == "processes" else 1
        told = []
        for item in items:
            low, high = amount(plain(item))
            name = f"{write_range((low, high))} {key}"
            if low * each > room:
                message = f"`{component.name}` never has {name}: there {are(room)} {with_noun(room, noun)}"
                told.append(warning("PW121", component.name, message, item.span, label="never", help="leave it out of the list"))
            elif all(-(-low * each // step) * step > high * each for step in steps):
                said = " or ".join(map(str, dict.fromkeys(steps)))
                message = f"`{component.name}` never has {name}: it has a multiple of {said}"
                told.append(
                    warning("PW121", component.name, message, item.span, label=f"no multiple of {said}", help="leave it out of the list")
                )
        if len(told) < len(items):
            yield from told
