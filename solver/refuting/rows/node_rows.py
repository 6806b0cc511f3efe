"""Sums that show something impossible because of what processes need of their nodes beside accelerators: CPUs, host memory."""

from __future__ import annotations

from typing import Callable, Iterator

from ....models.component import Component
from ....models.findings.wording import plural
from ....models.quantity import write_memory
from ...layout.bundle import Bundle
from ...wording import listed
from .census import Kind, Members
from .question import Question
from .row import Row

Has = Callable[[Kind], "int | None"]
"""How much a node of a kind has; None where nobody says."""


def cpu_row(question: Question, bundle: Bundle) -> Row | None:
    """The nodes that the bundle may use have CPUs for fewer of its units than it asks for, even if it were alone."""
    each = sum(component.cpus * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, each, _cpus, f"{each} {plural('CPU', each)}", "reserve")


def host_memory_row(question: Question, bundle: Bundle) -> Row | None:
    """The same of the memory of the nodes."""
    each = sum(component.host_memory * (bundle.unit // component.per_process) for component in bundle.components)
    return _bundle_row(question, bundle, each, _host_memory, f"{write_memory(each)} of host memory", "need")


def process_rows(question: Question, component: Component) -> Iterator[Row]:
    """The same of processes that need no accelerator."""
    asked = (
        (component.cpus, _cpus, f"reserves {component.cpus} {plural('CPU', component.cpus)}"),
        (component.host_memory, _host_memory, f"needs {write_memory(component.host_memory)} of host memory"),
    )
    for each, has, what in asked:
        have = _room(question, (component,), each, has, lambda kind: None) if each and component.runs is None else None
        if have is not None and have < component.least:
            sentence = f"{component.name} {what} for each process: there is room for {have}, {component.least} are needed"
            yield Row((component,), component.least, have, sentence)


def _bundle_row(question: Question, bundle: Bundle, each: int, has: Has, what: str, verb: str) -> Row | None:
    if not each or bundle.fixed:
        return None
    held = _room(question, question.company(bundle), each, has, lambda kind: kind.free.get(bundle.kind, 0) // bundle.unit)
    if held is None or held >= bundle.least:
        return None
    names, need, have = listed([component.name for component in bundle.components]), bundle.least * bundle.unit, held * bundle.unit
    verb = verb if len(bundle.components) > 1 else verb + "s"
    unit = "accelerator" if bundle.unit == 1 else f"{bundle.unit} accelerators"
    sentence = f"{names} {verb} {what} for each {unit}: there is room for {have} {plural('accelerator', have)}, {need} are needed"
    return Row(bundle.components, need, have, sentence)


def _room(question: Question, members: Members, each: int, has: Has, most: Has) -> int | None:
    """How many that need so much each the nodes that all members may use can hold, at most `most` a node; None for any number."""
    held, mask = 0, question.census.may(members, memory=False)
    for kind in (kind for index, kind in enumerate(question.census.kinds) if mask >> index & 1):
        there = has(kind)
        rooms = [room for room in (most(kind), None if there is None else there // each) if room is not None]
        if not rooms:
            return None
        held += kind.count * min(rooms)
    return held


def _cpus(kind: Kind) -> int | None:
    return kind.cpus


def _host_memory(kind: Kind) -> int | None:
    return kind.host_memory
