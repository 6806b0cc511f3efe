"""Times of a component: phases, accelerator models, counts that nobody said."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Collection, Iterable, Iterator

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, error, warning
from ..findings.span import Edit, Span
from ..machines.accelerators import memory_of
from ..machines.cluster import Cluster
from ..planning.workload import PHASES, STAGES, Timed
from ..text.nearest import nearest
from ..text.tree import Entry, ListNode, MapNode, Scalar, Value
from ..times import usual_phase
from .forms import ComponentForm

CODE = "PW121"


def stages_of(plan: Value | None) -> tuple[str, ...]:
    """The phases that a plan goes through; none where it has another cost model."""
    model, phases = (plan.get(key) for key in ("cost_model", "phases")) if isinstance(plan, MapNode) else (None, None)
    if not isinstance(model, Scalar) or model.text != STAGES:
        return ()
    written = phases.items if isinstance(phases, ListNode) else (phases,)
    return tuple(each.text for each in written if isinstance(each, Scalar)) if phases is not None else PHASES


def with_usual_phases(components: Iterable[Component], plan: Value | None) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    """The components, each time that names no phase in the usual one of its component; and a sentence that says so, if there are any.

    Those whose hints name other phases, whose role is not known, or whose phase the plan does not go through, stay as they are; so do
    all where the plan goes through the phase without a name.
    """
    stages, found, assumed = stages_of(plan), list[Component](), list[str]()
    for each in components:
        phase = usual_phase(each) if stages and "" not in stages and each.timed and "" in each.timed.phases else ""
        if each.timed and phase and phase in stages and (not each.phases or phase in each.phases):
            rows = tuple(row if row.phase else replace(row, phase=phase) for row in each.timed.measured)
            each = replace(each, timed=replace(each.timed, measured=rows))
            assumed.append(f"{each.name} in {phase}")
        found.append(each)
    said = f"phases by what components do, where their hints name none: {', '.join(assumed)}"
    return tuple(found), (said,) if assumed else ()


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
