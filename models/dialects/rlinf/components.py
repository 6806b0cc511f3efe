"""`component_placement`: components with node groups and ranks, in the short and the long form.

Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping

from ...component import Component
from ...configuration.notes import RANKS, Notes, is_unknown
from ...derivation import ACCELERATORS_PER_NODE, Derivation, Figure
from ...findings.finding import Severity
from ...findings.span import Edit, Span
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...placements.placement_text import read_placement
from ...text.edit import in_flow_map
from ...text.nearest import nearest
from ...text.tree import Entry, ListNode, MapNode, Scalar, Value, kind_of
from .known import MAX_RUNS, names_of, report
from .ranks import Context, Labels, WrittenPlacement, number_ranks, place_component, read_labels, report_faults

KEYS = ("node_group", "placement")
"""Keys in the long form of a component's placement."""

_RANKS = re.compile(r"\s*(?:all|[0-9][0-9 :_-]*)\s*", re.ASCII | re.IGNORECASE)


def split_by_commas(notes: Notes, value: MapNode, component: str = "") -> MapNode:
    """Return the map with comma-split keys and values rejoined; note every split.

    In `component_placement` itself, RLinf refuses the key without a value; in the placement of a
    `component` RLinf ignores it silently, and so the intended value is not used.
    """
    if not value.flow:
        return value
    entries: list[Entry] = []
    names: list[Entry] = []  # bare entries before the key that they belong to
    for entry in value.entries:
        is_bare, last = notes.is_bare(entry), entries[-1] if entries and not names else None
        goes_on = nearest(entry.key.text.partition(" ")[0], KEYS) is None if component else bool(_RANKS.fullmatch(entry.key.text))
        if is_bare and goes_on and last is not None and isinstance(last.value, Scalar) and not notes.is_bare(last):
            entries[-1] = Entry(last.key, _join(last.value, entry.key))
        elif is_bare and not component and not _RANKS.fullmatch(entry.key.text):
            names.append(entry)
        else:
            key = _join(names[0].key, entry.key, *(name.key for name in names[1:])) if names else entry.key
            entries, names = [*entries, Entry(key, entry.value)], []
    for entry in entries:
        for scalar, noun in ((entry.key, "key"), (entry.value, "value")):
            if isinstance(scalar, Scalar) and scalar.tag == _JOINED:
                why = "RLinf ignores the rest silently" if component else "RLinf takes the rest for components without a placement"
                severity, text = Severity.WARNING if component else Severity.ERROR, f'"{scalar.text}"'
                values = {"severity": severity, "noun": noun, "text": text, "why": why}
                subject = component or entry.key.text.partition(",")[0]
                report(notes, "split by a comma", subject, scalar.span, Edit(scalar.span, text), **values)
    new_entries = (Entry(entry.key, value.get(entry.key.text) or entry.value) for entry in entries) if component else entries
    return MapNode((*new_entries, *names), value.span, value.flow)


_JOINED = "!joined"
"""Tag of texts that a comma had split."""


def _join(first: Scalar, last: Scalar, *between: Scalar) -> Scalar:
    text = ",".join(piece.text for piece in (first, *between, last))
    span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
    return Scalar(text, _JOINED, span, span)


def component_placement(notes: Notes, section: MapNode, value: Value | None, has_hints: bool) -> MapNode | None:
    """Return the map; None if missing, unknown or invalid, with a finding unless hints suffice."""
    if isinstance(value, MapNode):
        return split_by_commas(notes, value)
    if value is not None and (is_unknown(value) or (has_hints and isinstance(value, Scalar) and value.is_null)):
        return None
    if value is not None:
        report(notes, "placement no map", "cluster", value, kind=kind_of(value))
    elif not has_hints:
        notes.missing("cluster", "component_placement", section.span, "add `component_placement:` with a line for each component")
    return None


def names_in(placements: MapNode | None) -> dict[str, Span]:
    """Return every name in `component_placement`, readable or not, with the span of its key."""
    return {name: entry.key.span for entry in placements or () for name in names_of(entry) if name}


def read_components(context: Context, value: MapNode) -> tuple[Component, ...]:
    """Return the components with a readable placement; those of unknown place have no runs."""
    components: dict[str, Component] = {}
    seen: set[str] = set()
    runs = 0
    for entry in value:
        names = _names(context.notes, value, entry, seen)
        base = _entry(context, entry, next(iter(names), entry.key.text), value.flow)
        runs += len(base.runs or ()) * len(names) if base else 0
        if runs > MAX_RUNS:
            report(context.notes, "too many runs", "cluster", entry.key.span, most=MAX_RUNS)
            break
        for name, span in names.items():
            if base is not None:
                components[name] = replace(base, name=name, spans={**base.spans, "name": span})
    return tuple(components.values())


def _names(notes: Notes, owner: MapNode, entry: Entry, seen: set[str]) -> dict[str, Span]:
    """Return the components of a key such as `actor,rollout`, with their spans."""
    text, names = notes.text(entry.key, entry.key.text), dict[str, Span]()
    pieces = text.text.split(",")
    remaining = ",".join(name for name in dict.fromkeys(piece.strip() for piece in pieces) if name and name not in seen)
    edit = text.replace(remaining, owner.flow) if remaining else notes.remove(owner, entry)
    if remaining and owner.entry(remaining) is not None:
        edit = None
    position = 0
    for piece in pieces:
        name, start = piece.strip(), position + len(piece) - len(piece.lstrip())
        span, help = text.part(start, start + len(name)), f"write `{remaining}`" if remaining and edit else "remove one of the two"
        if not name:
            report(notes, "empty name", entry.key.text, span, edit, help=f"write `{remaining}`" if remaining else "write a name")
        elif name in seen:
            report(notes, "placed twice", name, span, edit, help=help)
        else:
            names[name] = span
            seen.add(name)
        position += len(piece) + 1
    return names


def _entry(context: Context, entry: Entry, name: str, in_flow: bool) -> Component | None:
    notes, value = context.notes, entry.value
    if is_unknown(value):
        return None
    labels: Labels | None = Labels()
    spans: dict[str, Span] = {}
    placement: Value = value
    if isinstance(value, MapNode):
        in_flow = value.flow
        split = split_by_commas(notes, value, name)
        value = notes.unknown_keys(split, name, KEYS, False, f"the placement of `{name}`", required=("placement",))
        inner = value.get("placement")
        group = value.get("node_group")
        if group is not None:
            spans["node_group"] = group.span
            labels = read_labels(notes, group, name, context.groups, in_flow)
        if inner is None:
            notes.missing(name, "placement", entry.key.span, "add `placement: all`, or the ranks", added=(value, "placement", "all"))
            return None
        placement = inner
    spans["placement"] = placement.span
    scalar = _ranks_of(notes, placement, name, in_flow)
    if scalar is None:
        return None
    if labels is not None:
        return place_component(WrittenPlacement(context, name, notes.ranks(scalar, name, in_flow), labels, in_flow), spans)
    spec = WrittenPlacement(replace(context, cluster=None), name, notes.ranks(scalar, name, in_flow), Labels(), in_flow)
    notes.unsure("PW102", name, "its node group is not known", True, "Declare its node group")
    resources, spec.fix = number_ranks(None, spec.labels.names), spec.correction(True)
    report_faults(spec, read_placement(spec.text.text, resources).faults, resources)
    return None


def _ranks_of(notes: Notes, placement: Value, name: str, in_flow: bool) -> Scalar | None:
    """Return the placement, or a corrected one; None if unknown."""
    if is_unknown(placement):
        return None
    if not isinstance(placement, Scalar):
        items = placement.items if isinstance(placement, ListNode) else ()
        texts = [item.text if isinstance(item, Scalar) else "" for item in items]
        text = ",".join(texts)
        fits = texts and all(RANKS.fullmatch(piece) for piece in texts)
        edit = notes.replace(placement, in_flow_map(text) if in_flow else f'"{text}"' if ":" in text else text) if fits else None
        help = f"write `{text}`" if fits else "write ranks such as `0-7`"
        report(notes, "placement no ranks", name, placement, edit, kind=kind_of(placement), help=help)
        return Scalar(text, "tag:yaml.org,2002:str", placement.span, placement.span) if edit else None
    if placement.is_null:
        report(notes, "placement empty", name, placement, notes.replace(placement, "all"))
        return None
    return placement


def accelerators_per_node(ones: Cluster, nodes: Figure, components: tuple[Component, ...], counts: Mapping[str, int]) -> Derivation | None:
    """Return the largest demand for accelerators per node; None without ranks.

    `ones`: the `nodes` of the file with one accelerator each, so that groups count nodes. `counts`:
    component -> accelerators of its groups that its ranks span, if they could not be resolved.
    """
    most: tuple[int, str, Figure] | None = None
    for component in components:
        count, has = counts.get(component.name, 0), ones.numbering(component.node_groups).size
        minimum = -(-count // has) if has else 0
        if minimum > (most[0] if most else 0):
            formula = f"ranks 0-{count - 1} of {component.name} // {with_noun(has, 'node')}, rounded up"
            most = minimum, formula, Figure(f"placement of {component.name}", f"0-{count - 1}", component.span("placement"))
    return Derivation("", ACCELERATORS_PER_NODE, most[0], most[1], (nodes, most[2])) if most else None
