"""Sums that show a bundle impossible because of what its processes need of their nodes beside accelerators: CPUs, host memory."""

from __future__ import annotations

from typing import Callable

from ....models.quantity import write_memory
from ...layout.bundle import Bundle
from ...wording import listed, plural
from .census import Kind
from .question import Question
from .row import Row


def cpu_row(question: Question, bundle: Bundle) -> Row | None:
    """The nodes that the bundle may use have CPUs for fewer of its units than it asks for, even if it were alone."""
    each = max(component.cpus * (bundle.unit // component.per_process) for component in bundle.components)
    return _row(question, bundle, each, lambda kind: kind.cpus, f"{each} CPUs", "reserve")


def host_memory_row(question: Question, bundle: Bundle) -> Row | None:
    """The same of the memory of the nodes."""
    each = max(component.host_memory * (bundle.unit // component.per_process) for component in bundle.components)
    return _row(question, bundle, each, lambda kind: kind.host_memory, f"{write_memory(each)} of host memory", "need")


def _row(question: Question, bundle: Bundle, each: int, has: Callable[[Kind], int | None], what: str, verb: str) -> Row | None:
    if not each or bundle.fixed:
        return None
    held, mask = 0, question.census.may(question.company(bundle), memory=False)
    for kind in (kind for index, kind in enumerate(question.census.kinds) if mask >> index & 1):
        room, there = kind.free.get(bundle.kind, 0) // bundle.unit, has(kind)
        held += kind.count * (room if there is None else min(room, there // each))
    if held >= bundle.least:
        return None
    names, need, have = listed([component.name for component in bundle.components]), bundle.least * bundle.unit, held * bundle.unit
    verb = verb if len(bundle.components) > 1 else verb + "s"
    unit = f"{bundle.unit} {plural('accelerator', bundle.unit)}"
    sentence = f"{names} {verb} {what} with each {unit}, and so can have {have} accelerators; {need} are needed"
    return Row(bundle.components, need, have, sentence)
