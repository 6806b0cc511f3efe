"""Phases are words of the file's own: one that nobody else has and that nearly is a usual one was probably meant to be that."""

from __future__ import annotations

from collections import Counter
from typing import Collection, Iterator

from ...findings.finding import Finding, warning
from ...findings.span import Edit
from ...machines.cluster import Cluster
from ...planning.workload import PHASES
from ...text.nearest import nearest
from ...text.tree import Entry, ListNode, MapNode, Scalar
from .by_model import is_model, models_of


def misspelt_phases(hints: MapNode, faulty: Collection[str], cluster: Cluster) -> Iterator[Finding]:
    """A warning for each such word. `hints` are those of the components; of the `faulty` ones nothing is said."""
    named = [(entry.key.text, word) for entry in hints if entry.key.text not in faulty for word in _words(entry)]
    words = [(name, word) for name, word in named if not is_model(word.text, cluster)]
    told = Counter(text for text, _ in {(word.text, name) for name, word in words})
    for name, word in {(name, word.text): (name, word) for name, word in words}.values():
        others = dict.fromkeys((*PHASES, *models_of(cluster), *(text for text in told if text != word.text)))
        close = nearest(word.text, others) if word.text not in PHASES and told[word.text] == 1 else None
        if close is None or abs(len(close) - len(word.text)) > 1 or word.text.startswith(close):
            continue  # `infer1` and `infer_critic` are phases of their own
        message = f"nobody else names the phase `{word.text}` of `{name}`"
        edit = Edit(word.span, close) if word.span.length == len(word.text) else None
        yield warning("PW121", name, message, word.span, label="a phase of its own", help=f"write `{close}`, if that is meant", edit=edit)


def _words(entry: Entry) -> Iterator[Scalar]:
    """The phases that the hints of a component name: by `phase`, and as keys of its `seconds`."""
    if not isinstance(entry.value, MapNode):
        return
    said, seconds = entry.value.get("phase"), entry.value.get("seconds")
    for each in said.items if isinstance(said, ListNode) else (said,):
        if isinstance(each, Scalar) and isinstance(each.value, str):
            yield each
    for inner in seconds if isinstance(seconds, MapNode) else ():
        if not inner.key.text[:1].isdigit():
            yield inner.key
