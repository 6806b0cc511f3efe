"""Models of accelerators in the `seconds` of a component: known by the cluster, or by name."""

from __future__ import annotations

from typing import Iterator

from ...findings.finding import Finding, warning
from ...findings.span import Edit, Span
from ...machines.accelerators import memory_of
from ...machines.cluster import Cluster
from ...text.nearest import nearest
from ...text.tree import ListNode, MapNode, Scalar, Value
from ..forms import ComponentForm


def models_of(cluster: Cluster) -> tuple[str, ...]:
    """The models of accelerators that there are, in the order of the nodes."""
    return tuple(dict.fromkeys(each.node.accelerator_model for each in cluster.alike if each.node.accelerators))


def is_model(word: str, cluster: Cluster) -> bool:
    """Is this the name of a model, of this cluster or of another?"""
    return word in models_of(cluster) or memory_of(word) is not None


def by_model(form: ComponentForm, cluster: Cluster) -> ComponentForm:
    """The hints, in which what `seconds` names a phase and is a model is one, unless `phase` names it too."""
    if form.seconds is None:
        return form
    rows = (
        row.changed(phase="", accelerator=row.phase)
        if row.accelerator is None and row.phase not in form.phase and is_model(row.phase, cluster)
        else row
        for row in form.seconds
    )
    return form.changed(seconds=tuple(rows))


def misspelt_models(form: ComponentForm, name: str, seconds: Value | None, cluster: Cluster) -> Iterator[Finding]:
    """A warning for each model of which there are no accelerators here, whose name is nearly that of one that there is.

    A time for a model that this cluster lacks is none of a fault: the same hints may be used for another.
    """
    there = models_of(cluster)
    for model in dict.fromkeys(row.accelerator for row in form.seconds or () if row.accelerator):
        close = nearest(model, there) if model not in there else None
        if close is None or (memory_of(model) is not None and model.upper() != close.upper()):
            continue
        span = _where(seconds, model)
        edit = Edit(span, close) if span is not None and span.length == len(model) else None
        message = f"`seconds` of `{name}` names the model `{model}`, of which there are no accelerators"
        yield warning("PW121", name, message, span, label="of no use here", help=f"write `{close}`, if that is meant", edit=edit)


def _where(seconds: Value | None, model: str) -> Span | None:
    """Where `seconds` names a model first: as a key of it or of one of its phases, or in a row."""
    if isinstance(seconds, MapNode):
        keys = [*seconds, *(inner for entry in seconds if isinstance(entry.value, MapNode) for inner in entry.value)]
        return next((entry.key.span for entry in keys if entry.key.text == model), None)
    rows = seconds.items if isinstance(seconds, ListNode) else ()
    named = (row.get("accelerator") for row in rows if isinstance(row, MapNode))
    return next((each.span for each in named if isinstance(each, Scalar) and each.text == model), None)
