"""Times of a component: phases, accelerator models, and missing counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Collection, Iterable, Iterator

from ..component import UNBOUNDED, Component
from ..findings.finding import Finding, error, warning
from ..findings.span import Edit
from ..machines.cluster import Cluster
from ..machines.node import memory_of
from ..planning.workload import PHASES, STAGES, TimedComponent
from ..text.nearest import nearest
from ..text.tree import Entry, ListNode, MapNode, Scalar, Value
from ..times import usual_phase
from .forms import ComponentForm

CODE = "PW121"


def stages_of(plan: Value | None) -> tuple[str, ...]:
    """Return the phases of a plan; () for another cost model."""
    model, phases = (plan.get(key) for key in ("cost_model", "phases")) if isinstance(plan, MapNode) else (None, None)
    if not isinstance(model, Scalar) or model.text != STAGES:
        return ()
    items = phases.items if isinstance(phases, ListNode) else (phases,)
    return tuple(phase.text for phase in items if isinstance(phase, Scalar)) if phases is not None else PHASES


def with_usual_phases(components: Iterable[Component], plan: Value | None) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    """Return the components with unnamed phases set to the usual phase, and a note.

    Unchanged are components with other phases in their hints, with an unknown role, or with a phase
    outside of the plan; also all components if the plan has a phase without a name.
    """
    stages, with_phases, notes = stages_of(plan), list[Component](), list[str]()
    for component in components:
        phase = usual_phase(component) if stages and "" not in stages and component.timed and "" in component.timed.phases else ""
        if component.timed and phase and phase in stages and (not component.phases or phase in component.phases):
            rows = tuple(row if row.phase else replace(row, phase=phase) for row in component.timed.measured)
            component = replace(component, timed=replace(component.timed, measured=rows))
            notes.append(f"{component.name} in {phase}")
        with_phases.append(component)
    note = f"phases by what components do, where their hints name none: {', '.join(notes)}"
    return tuple(with_phases), (note,) if notes else ()


def misspelt_phases(hints: MapNode, faulty: Collection[str], cluster: Cluster) -> Iterator[Finding]:
    """Yield a warning per phase with a likely typing error; `faulty` components are skipped."""
    words_by_name = [(entry.key.text, word) for entry in hints if entry.key.text not in faulty for word in _words(entry)]
    words = [(name, word) for name, word in words_by_name if not is_model(word.text, cluster)]
    if not words:
        return
    uses = Counter(text for text, _ in {(word.text, name) for name, word in words})
    for name, word in {(name, word.text): (name, word) for name, word in words}.values():
        candidates = dict.fromkeys((*PHASES, *models_of(cluster), *(text for text in uses if text != word.text)))
        close = nearest(word.text, candidates) if word.text not in PHASES and uses[word.text] == 1 else None
        if close is None or abs(len(close) - len(word.text)) > 1 or word.text.startswith(close):
            continue  # `infer1` and `infer_critic` are phases of their own
        message = f"no other component names the phase `{word.text}` of `{name}`"
        edit = Edit(word.span, close) if word.span.length == len(word.text) else None
        yield warning("PW121", name, message, word.span, label="a phase of its own", help=f"write `{close}`, if that is meant", edit=edit)


def _words(entry: Entry) -> Iterator[Scalar]:
    """Yield the phases in a component's hints: values of `phase` and keys of `seconds`."""
    phase, seconds = (entry.value.get("phase"), entry.value.get("seconds")) if isinstance(entry.value, MapNode) else (None, None)
    for word in phase.items if isinstance(phase, ListNode) else (phase,):
        if isinstance(word, Scalar) and isinstance(word.value, str):
            yield word
    for inner in seconds if isinstance(seconds, MapNode) else ():
        if not inner.key.text[:1].isdigit():
            yield inner.key


def models_of(cluster: Cluster) -> tuple[str, ...]:
    """Return the accelerator models of the cluster, in the order of the nodes."""
    return tuple(dict.fromkeys(stretch.node.accelerator_model for stretch in cluster.alike if stretch.node.accelerators))


def is_model(word: str, cluster: Cluster) -> bool:
    """Return True if a word names an accelerator model, of this cluster or known."""
    return word in models_of(cluster) or memory_of(word) is not None


def read_models(form: ComponentForm, cluster: Cluster) -> ComponentForm:
    """Return the hints with keys of `seconds` read as models, except for phases in `phase`."""
    if form.seconds is None:
        return form
    models = {row.phase for row in form.seconds if row.phase not in form.phase and is_model(row.phase, cluster)}
    are_models = (row.accelerator is None and row.phase in models for row in form.seconds)
    rows = (row.change(phase="", accelerator=row.phase) if is_named else row for row, is_named in zip(form.seconds, are_models))
    return form.change(seconds=tuple(rows))


def missing_counts(name: str, seconds: Value, units: str, example: str) -> Iterator[Finding]:
    """Yield a fault per key of `seconds` without counts, or for the value without keys."""
    message = f"the seconds of `{name}` are measured on an unknown number of {units}"
    keys = list(_keys(seconds))
    for key in keys:
        yield error(CODE, name, message, key.span, label="on how many?", help=f"write `{key.text}: {example}`")
    if not keys:
        yield error(CODE, name, message, seconds.span, label="on how many?", help=f"write `seconds: {example}`")


def _keys(value: Value) -> Iterator[Scalar]:
    """Yield the keys of nested maps that hold a time and are not counts."""
    for entry in value if isinstance(value, MapNode) else ():
        if isinstance(entry.value, MapNode):
            yield from _keys(entry.value)
        elif not entry.key.text.isdigit():
            yield entry.key


def build_times(form: ComponentForm, count: int) -> TimedComponent | None:
    """Return the times of a component; a time without a count holds for `count` accelerators."""
    if form.seconds is None:
        return None
    phase = form.phase[0] if len(form.phase) == 1 else ""
    rows = (row if row.phase else row.change(phase=phase) for row in form.seconds)
    return TimedComponent(tuple(row.build_measured(count) for row in rows), form.scaling, form.samples or 0)


def example(minimum: int = 1, most: int = UNBOUNDED, step: int = 1) -> str:
    """Return an example of a time like ``{8: 120}``, with an allowed count, 8 if possible."""
    lowest = -(-max(minimum, 1) // step) * step
    return f"{{{max(min(8, most) // step * step, lowest)}: 120}}"


def duplicate_time(times: TimedComponent) -> str:
    """Return the subject of two different times, like `8 accelerators with tp 2`; else ""."""
    times_by_subject: dict[tuple[object, ...], int] = {}
    for row in times.measured:
        subject = (row.phase, row.accelerators, row.model, row.parallel, row.named)
        if times_by_subject.setdefault(subject, row.nanoseconds) != row.nanoseconds:
            phase, model = f"{row.phase} on " if row.phase else "", f" {row.model}" if row.model else ""
            return f"{phase}{row.accelerators}{model or ' accelerators'}{f' with {row.degrees}' if row.degrees else ''}"
    return ""
