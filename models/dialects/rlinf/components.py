"""`component_placement`: every component with its node groups and ranks, in the short and the long form.

Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping as MappingType

from ...component import Component
from ...configuration.notes import RANKS, Notes, is_unknown
from ...derivation import ACCELERATORS_PER_NODE, Derivation, Figure
from ...findings.span import Edit, Span
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...text.nearest import nearest
from ...text.scalar_text import in_flow_map
from ...text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .known import MAX_RUNS
from .labels import Labels, read_labels
from .ranks import Context, Written, check_text, placed

KEYS = ("node_group", "placement")
"""What the placement of a component may hold."""

_RANKS = re.compile(r"\s*(?:all|[0-9][0-9 :_-]*)\s*", re.ASCII | re.IGNORECASE)


def split_by_commas(notes: Notes, value: Mapping, component: str = "") -> Mapping:
    """The map as it was meant, each such place noted.

    As `component_placement` itself, RLinf refuses the key without a value; as the placement of one `component` it ignores
    it silently, and so the meant value is not taken.
    """
    if not value.flow:
        return value
    entries = [entry if component else _with_colon(notes, entry) for entry in value.entries]
    meant: list[Entry] = []
    while entries:
        entry = entries.pop(0)
        tail: list[Entry] = []
        if not isinstance(entry.value, Scalar) or notes.is_bare(entry):
            names = [entry] if notes.is_bare(entry) and not component else []
            while names and entries and notes.is_bare(entries[0]):
                names.append(entries.pop(0))
            if names and entries and not _RANKS.fullmatch(entry.key.text) and isinstance(entries[0].key, Scalar):
                meant.append(_named(notes, [each.key for each in names], entries.pop(0)))
            else:
                meant += names or [entry]
            continue
        while entries and notes.is_bare(entries[0]) and (_goes_on(entries[0]) if component else _RANKS.fullmatch(entries[0].key.text)):
            tail.append(entries.pop(0))
        meant.append(_valued(notes, entry, tail, component) if tail else entry)
    return Mapping(tuple(meant), value.span, value.flow)


def _with_colon(notes: Notes, entry: Entry) -> Entry:
    """`{actor 0-7}` is a component of the name `actor 0-7` without a placement."""
    name, _, ranks = entry.key.text.rpartition(" ")
    if not name or not _RANKS.fullmatch(ranks) or not notes.is_bare(entry):
        return entry
    message = f"`{entry.key.text}` has no colon: RLinf takes all of it for the name of a component without a placement"
    edit = notes.renamed(entry, f"{name}: {ranks}")
    notes.error("PW118", name, message, entry.key.span, "no colon", f"write `{name}: {ranks}`", edit)
    text = Scalar(ranks, "tag:yaml.org,2002:str", entry.key.span, entry.key.span)
    return Entry(replace(entry.key, text=name), text)


def _goes_on(entry: Entry) -> bool:
    """Could it be ranks or a label, rather than a key and its value without the colon between them?"""
    return nearest(entry.key.text.partition(" ")[0], KEYS) is None


def _valued(notes: Notes, entry: Entry, tail: list[Entry], component: str) -> Entry:
    """`actor: 0,1`: the value goes on after the comma."""
    first = entry.value
    text = ",".join([first.text if isinstance(first, Scalar) else "", *(each.key.text for each in tail)])
    span = _from_to(first.span, tail[-1].key.span)
    edit = Edit(span, f'"{text}"')
    keys = ", ".join(f"`{each.key.text}`" for each in tail)
    if component:
        message = f"the comma ends `{entry.key.text}` here: RLinf takes {keys} for a key of its own, and ignores it silently"
        notes.warn("PW118", component, message, span, "not one value", f'write "{text}" in quotes', edit)
        return entry
    message = f"the comma ends the value here: RLinf takes {keys} for a component without a placement"
    notes.error("PW118", entry.key.text, message, span, "not one value", f'write "{text}" in quotes', edit)
    return Entry(entry.key, Scalar(text, "tag:yaml.org,2002:str", span, span))


def _named(notes: Notes, names: list[Scalar], last: Entry) -> Entry:
    """`actor,rollout: 0-7`: the key began before the comma."""
    text = ",".join([*(name.text for name in names), last.key.text])
    span = _from_to(names[0].span, last.key.span)
    listed = ", ".join(f"`{name.text}`" for name in names)
    message = f"the comma ends the key here: RLinf takes {listed} for a component without a placement"
    notes.error("PW118", names[0].text, message, span, "not one key", f'write "{text}" in quotes', Edit(span, f'"{text}"'))
    return Entry(Scalar(text, "tag:yaml.org,2002:str", span, span), last.value)


def _from_to(first: Span, last: Span) -> Span:
    return Span(first.file, first.start, last.end, first.line, first.column)


def component_placement(notes: Notes, section: Mapping, value: Value | None, hinted: bool) -> Mapping | None:
    """The map; None where there is none to read, and a finding unless it is not known or the file, as it has hints, may lack it."""
    if isinstance(value, Mapping):
        return split_by_commas(notes, value)
    if value is not None and (is_unknown(value) or (hinted and isinstance(value, Scalar) and value.is_null)):
        return None
    if value is not None:
        what = kind_of(value)
        message = f"`component_placement` must be a map of components, but it is {what}"
        notes.error("PW105", "cluster", message, value, what, "write each component with its ranks, such as `actor: 0-7`")
    elif not hinted:
        notes.missing("cluster", "component_placement", section.span, "add `component_placement:` with a line for each component")
    return None


def names_in(placed: Mapping | None) -> dict[str, Span]:
    """Every name in `component_placement`, also of components that cannot be read, with its key's place."""
    return {name.strip(): entry.key.span for entry in placed or () for name in entry.key.text.split(",") if name.strip()}


__all__ = ["Context", "read_components"]


def read_components(context: Context, value: Mapping) -> tuple[Component, ...]:
    """The components whose placement can be told, in the written order. One of unknown place has no runs.

    Commas that split a flow map are expected to be mended (see flow_commas.py).
    """
    found: dict[str, Component] = {}
    seen: set[str] = set()
    runs = 0
    for entry in value:
        names = _names(context.notes, value, entry, seen)
        base = _entry(context, entry, next(iter(names), entry.key.text), value.flow)
        runs += len(base.runs or ()) * len(names) if base else 0
        if runs > MAX_RUNS:
            message = f"the components up to this one have more than {MAX_RUNS:,} runs; no more are read"
            context.notes.error("PW002", "cluster", message, entry.key.span, "too many", "place fewer components, or on fewer nodes")
            break
        for name, span in names.items():
            if base is not None:
                spans = {**base.spans, "name": span}
                found[name] = Component(
                    name, base.node_groups, base.least, base.most, base.per_process, runs=base.runs, spans=spans, fixes=base.fixes
                )
    return tuple(found.values())


def _names(notes: Notes, owner: Mapping, entry: Entry, seen: set[str]) -> dict[str, Span]:
    """The components of a key such as `actor,rollout`, each with its place."""
    text = notes.text(entry.key, entry.key.text)
    names: dict[str, Span] = {}
    position = 0
    pieces = text.text.split(",")
    stripped = [piece.strip() for piece in pieces]
    others = [name for i, name in enumerate(stripped) if name and name not in seen and name not in stripped[:i]]
    left = ",".join(others)
    only = text.replaced(left, owner.flow) if left else notes.removed(owner, entry)
    if left and owner.entry(left) is not None:
        only = None
    for piece, name in zip(pieces, stripped):
        start = position + len(piece) - len(piece.lstrip())
        span = text.part(start, start + len(name))
        if not name:
            message = f"a name in `{entry.key.text}` is empty; RLinf makes a component of it"
            notes.warn("PW112", entry.key.text, message, span, "no name", f"write `{left}`" if left else "write a name", only)
        if name in seen:
            help = f"write `{left}`" if only and left else "remove one of the two"
            notes.error("PW106", name, f"`{name}` is placed twice", span, "again here", help, only)
        elif name:
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
    if isinstance(value, Mapping):
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
    written = Written(name, notes.ranks(scalar, name, in_flow), labels or Labels(), in_flow)
    if labels is None:
        check_text(context, written)
        return None
    return placed(context, written, spans)


def _ranks_of(notes: Notes, placement: Value, name: str, in_flow: bool) -> Scalar | None:
    """The placement, also as it was meant; None if it cannot be told."""
    if is_unknown(placement):
        return None
    if not isinstance(placement, Scalar):
        plain = isinstance(placement, Sequence) and all(isinstance(item, Scalar) for item in placement.items)
        written = [item.text for item in placement.items if isinstance(item, Scalar)] if isinstance(placement, Sequence) and plain else []
        text = ",".join(written)
        message = f"the placement of `{name}` must be ranks, but it is {kind_of(placement)}"
        fits = written and all(RANKS.fullmatch(piece) for piece in written)
        edit = notes.instead(placement, in_flow_map(text) if in_flow else f'"{text}"' if ":" in text else text) if fits else None
        help = f"write `{text}`" if fits else "write ranks such as `0-7`"
        notes.error("PW105", name, message, placement, kind_of(placement), help, edit)
        return Scalar(text, "tag:yaml.org,2002:str", placement.span, placement.span) if edit else None
    if placement.is_null:
        edit = notes.instead(placement, "all")
        message = f"the placement of `{name}` names nothing"
        notes.error("PW112", name, message, placement, "empty", "write ranks such as `0-7`, or `all`", edit)
        return None
    return placement


def accelerators_per_node(
    ones: Cluster, nodes: Figure, components: tuple[Component, ...], asked: MappingType[str, int]
) -> Derivation | None:
    """The most that any component needs; None where no ranks are written.

    Parameters
    ----------
    ones : the nodes with one accelerator each, so that the numbering of groups counts those nodes that have accelerators.
    nodes : how many nodes the file declares.
    asked : for components whose ranks could not be looked up, how many accelerators of their groups these reach over.
    """
    most: tuple[int, str, Figure] | None = None
    for component in components:
        count, has = asked.get(component.name, 0), ones.numbering(component.node_groups).size
        least = -(-count // has) if has else 0
        if least > (most[0] if most else 0):
            formula = f"ranks 0-{count - 1} of {component.name} // {with_noun(has, 'node')}, rounded up"
            most = least, formula, Figure(f"placement of {component.name}", f"0-{count - 1}", component.span("placement"))
    return Derivation("", ACCELERATORS_PER_NODE, most[0], most[1], (nodes, most[2])) if most else None
