"""`component_placement`: every component with its node groups and its ranks, in the short and the long form.

Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

from ....component import Component
from ....configuration.notes import RANKS, Notes, is_unknown
from ....findings.span import Span
from ....text.scalar_text import in_flow_map
from ....text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from ..capabilities import MAX_RUNS
from .flow_commas import KEYS, split_by_commas
from .form import Written
from .groups_of import Labels, read_labels
from .placed import Context, check_text, placed

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
