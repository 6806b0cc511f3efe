"""`component_placement`: every component with its node groups and its ranks, in the short and the long form.

Source: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ...assignment import Run
from ...cluster import Cluster
from ...component import UNBOUNDED, Component
from ...node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...notation.mapping import runs_of
from ...notation.mend import mended
from ...notation.placement_text import Fault, Numbered, PlacementText, read_placement
from ...span import Span
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .capabilities import MAX_PROCESSES, MAX_RUNS
from .groups_of import numbered_by, read_labels
from .node_groups import DeclaredGroups
from .notes import Notes, Text, is_unknown

MAX_FAULTS = 20
"""How many faults of one placement are shown."""


@dataclass(frozen=True)
class Context:
    """What all components of a file share. `per_node`: accelerators of each node, where more nodes could be declared."""

    notes: Notes
    cluster: Cluster | None
    groups: DeclaredGroups
    per_node: int = 0


def read_components(context: Context, value: Mapping) -> tuple[Component, ...]:
    """The components whose placement can be told, in the written order. One of unknown place has no runs."""
    found: dict[str, Component] = {}
    seen: set[str] = set()
    runs = 0
    for entry in value:
        names = _names(context.notes, entry, seen)
        base = _entry(context, entry, next(iter(names), entry.key.text))
        runs += len(base.runs or ()) * len(names) if base else 0
        if runs > MAX_RUNS:
            message = f"the components up to this one have more than {MAX_RUNS:,} runs; no more are read"
            context.notes.error("PW002", "cluster", message, entry.key.span, "too many", "place fewer components, or on fewer nodes")
            break
        for name, span in names.items():
            if base is not None:
                spans = {**base.spans, "name": span}
                found[name] = Component(name, base.node_groups, base.least, base.most, base.per_process, runs=base.runs, spans=spans)
    return tuple(found.values())


def _names(notes: Notes, entry: Entry, seen: set[str]) -> dict[str, Span]:
    """The components of a key such as `actor,rollout`, each with its place."""
    text = notes.text(entry.key, entry.key.text)
    names: dict[str, Span] = {}
    position = 0
    for piece in text.text.split(","):
        name = piece.strip()
        start = position + len(piece) - len(piece.lstrip())
        span = text.part(start, start + len(name))
        if not name:
            notes.warn("PW112", entry.key.text, f"a name in `{entry.key.text}` is empty; RLinf makes a component of it", span, "no name")
        if name in seen:
            notes.error("PW106", name, f"`{name}` is placed twice", span, "again here", "name each component once")
        elif name:
            names[name] = span
        seen.add(name)
        position += len(piece) + 1
    return names


def _entry(context: Context, entry: Entry, name: str) -> Component | None:
    notes, value = context.notes, entry.value
    if is_unknown(value):
        return None
    labels: tuple[str, ...] | None = (CLUSTER_LABEL,)
    spans: dict[str, Span] = {}
    placement: Value = value
    if isinstance(value, Mapping):
        notes.unknown_keys(value, name, ("node_group", "placement"), False, f"the placement of `{name}`")
        inner = value.get("placement")
        group = value.get("node_group")
        if group is not None:
            spans["node_group"] = group.span
            labels = read_labels(notes, group, name, context.cluster, context.groups)
        if inner is None:
            notes.missing(name, "placement", entry.key.span, "add `placement: all` or the ranks")
            return None
        placement = inner
    spans["placement"] = placement.span
    scalar = _ranks_of(notes, placement, name)
    if scalar is None or labels is None:
        return None
    return _placed(context, notes.text(scalar, name), name, labels, spans)


def _ranks_of(notes: Notes, placement: Value, name: str) -> Scalar | None:
    """The placement, if it is one that can be read."""
    if is_unknown(placement):
        return None
    if not isinstance(placement, Scalar):
        written = [item.text for item in placement.items if isinstance(item, Scalar)] if isinstance(placement, Sequence) else []
        help = f"write `{','.join(written)}`" if written else "write ranks such as `0-7`"
        message = f"the placement of `{name}` must be ranks, but it is {kind_of(placement)}"
        notes.error("PW105", name, message, placement, kind_of(placement), help)
        return None
    if placement.is_null:
        notes.error("PW112", name, f"the placement of `{name}` names nothing", placement, "empty", "write ranks such as `0-7`, or `all`")
        return None
    return placement


def _placed(context: Context, text: Text, name: str, labels: tuple[str, ...], spans: dict[str, Span]) -> Component | None:
    notes, cluster = context.notes, context.cluster
    numbered = numbered_by(cluster, labels)
    found = read_placement(text.text, numbered)
    if found.faults:
        _report(context, text, name, found.faults, numbered, labels)
        return None
    if found.processes > MAX_PROCESSES:
        message = f"`{name}` has {found.processes:,} processes; more than {MAX_PROCESSES:,} are not read"
        notes.error("PW002", name, message, text.scalar, "too many", "name fewer processes")
        return None
    kind = cluster.kind(labels) if cluster else ACCELERATOR
    each = 1 if kind == NODE else _each(found)
    amount = found.processes * each
    least, most = (1, UNBOUNDED) if found.open else (amount, amount)
    if cluster is None or numbered.size is None:
        why = f"how many accelerators {numbered.where} has is not known, so neither ranks nor nodes were checked"
        notes.unsure("PW102", name, why if cluster else "the number of nodes is not known, so neither ranks nor nodes were checked")
        return Component(name, labels, least, most, each, spans=spans) if cluster else None
    runs = runs_of(found.pairs, cluster, labels)
    if not _sound(notes, runs, text, name, labels, cluster):
        return None
    return Component(name, labels, amount, amount, each, runs=runs, spans=spans)


def _each(found: PlacementText) -> int:
    """Resources of one process, if all processes have as many; else 1."""
    sizes = {max(1, pair.resources // pair.processes) for pair in found.pairs}
    return sizes.pop() if len(sizes) == 1 else 1


def _report(context: Context, text: Text, name: str, faults: list[Fault], numbered: Numbered, labels: tuple[str, ...]) -> None:
    better = mended(text.text, numbered)
    edit = text.replaced(better) if better is not None else None
    if len(faults) > MAX_FAULTS:
        message = f"`{name}`: there are {len(faults):,} faults in this placement; the first {MAX_FAULTS} are shown"
        context.notes.error(faults[0].code, name, message, text.scalar, f"{len(faults):,} faults", "write ranges such as `0-7`", edit)
    for fault in faults[:MAX_FAULTS]:
        help = _advice(fault.code, numbered) if better is None else f"write `{better if text.shift == 1 else plain_or_quoted(better)}`"
        if fault.code == "PW102" and context.per_node and labels == (CLUSTER_LABEL,):
            last = max((int(number) for number in re.findall(r"[0-9]{1,9}", text.text[fault.start : fault.end])), default=0)
            help += f", or set `num_nodes: {last // context.per_node + 1}`"
        context.notes.error(fault.code, name, f"`{name}`: {fault.message}", _place(text, fault), fault.label, help, edit)


def _place(text: Text, fault: Fault) -> Span | Scalar:
    return text.scalar if text.shift is None else text.part(fault.start, fault.end)


def _advice(code: str, numbered: Numbered) -> str:
    if code == "PW102":
        return f"name ranks below {numbered.size}" if numbered.size else "choose a node group that has something to place on"
    return "write `ranks`, `ranks:processes`, or several of them with commas, such as `0-1:0-3,2-3`"


def _sound(notes: Notes, runs: tuple[Run, ...], text: Text, name: str, labels: tuple[str, ...], cluster: Cluster) -> bool:
    """What RLinf notices only at launch, or never: groups that share nodes, a process on two kinds of hardware."""
    if len(labels) == 1:
        return True
    if cluster.kind(labels) == NODE:
        nodes = [node for label in labels for node in cluster.groups[label].node_ranks]
        if len(set(nodes)) < len(nodes):
            twice = next(node for node, count in Counter(nodes).items() if count > 1)
            message = f"`{name}`: node {twice} is in several of its groups, so it is numbered twice; RLinf refuses that at launch"
            notes.error("PW108", name, message, text.scalar, "", "use groups without common nodes")
            return False
        return True
    kinds: dict[int, str] = {}
    masks: dict[tuple[int, str], tuple[str, int]] = {}
    for run in runs:
        if kinds.setdefault(run.ranks.start, run.kind) != run.kind:
            message = (
                f"process {run.ranks.start} of `{name}` would hold {kinds[run.ranks.start]} and {run.kind}; RLinf refuses that at launch"
            )
            notes.error("PW302", name, message, text.scalar, "", "give each process one kind of hardware")
            return False
        label, mask = masks.get((run.node, run.kind), (run.node_group, 0))
        if label != run.node_group and mask & run.mask:
            message = f"`{name}` holds {run.kind} {(mask & run.mask).bit_length() - 1} of node {run.node} through two groups"
            notes.warn("PW108", name, message, text.scalar, "numbered twice", "use groups without common nodes")
            return True
        masks[run.node, run.kind] = (run.node_group, mask | run.mask)
    return True
