"""Times of which nobody says on how many accelerators they were measured: each is told where that should stand."""

from __future__ import annotations

from typing import Collection, Iterator

from ...findings.finding import Finding, error
from ...machines.cluster import Cluster
from ...planning.workload import PHASES
from ...text.tree import MapNode, Scalar, Value
from .by_model import is_model

CODE = "PW121"


def uncounted(name: str, seconds: Value, phases: Collection[str], cluster: Cluster, what: str, example: str) -> Iterator[Finding]:
    """A finding for each key of the short form below which no count stands; one of the whole value where it has no such keys.

    A key that is no count is read as a phase, or as a model below one. Where it is none that is known, a count was probably meant.
    `what` is counted, and `example` is how a time is written.
    """
    keys = list(_keys(seconds))
    message = f"nobody says on how many {what} the seconds of `{name}` were measured"
    if not keys:
        yield error(CODE, name, message, seconds.span, label="on how many?", help=f"write `seconds: {example}`")
    outer = [entry.key for entry in seconds] if isinstance(seconds, MapNode) else []
    for key in keys:
        below = f"write `{key.text}: {example}`"
        if key.text in PHASES or key.text in phases or is_model(key.text, cluster):
            yield error(CODE, name, message, key.span, label="on how many?", help=below)
        else:
            meant = f"`{key.text}` in `seconds` of `{name}` is no whole number of {what}, and no counts stand below it"
            as_phase = f"; or, if it is a phase, {below}" if key in outer else ""
            help = f"write on how many it was measured, such as `{example}`{as_phase}"
            yield error(CODE, name, meant, key.span, label="no whole number", help=help)


def _keys(value: Value) -> Iterator[Scalar]:
    """The keys of maps in each other whose value is a time, and that are no counts."""
    for entry in value if isinstance(value, MapNode) else ():
        if isinstance(entry.value, MapNode):
            yield from _keys(entry.value)
        elif not entry.key.text.isdigit():
            yield entry.key
