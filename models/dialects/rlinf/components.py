"""`component_placement`: components with node groups and ranks as runs, in the short and the long form.

Without a placement every reason is noted at once, with a corrected form.

Source: RLinf, rlinf/scheduler/placement/placement.py (ComponentPlacement), and flexible.py and
node.py for checks at the start of the workers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from itertools import accumulate
from typing import Any, Mapping

from ...component import UNBOUNDED, Component
from ...configuration.notes import RANKS, Notes, ScalarText, is_unknown
from ...derivation import ACCELERATORS_PER_NODE, Derivation, Figure
from ...findings.finding import Fix
from ...findings.span import Span
from ...findings.wording import with_noun
from ...machines.cluster import Cluster
from ...machines.node_group import CLUSTER_LABEL, NODE
from ...placements.correction import correct_text
from ...placements.placement_text import (
    NumberedResources,
    PlacementFault,
    PlacementText,
    is_counted,
    number_groups,
    read_placement,
    runs_of,
)
from ...placements.run_checks import twice, why_not
from ...record import dataclass
from ...text.edit import plain_or_quoted
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Scalar, Value, kind_of
from .known import MAX_PROCESSES, MAX_RUNS, RESERVED_LABELS, names_of, report
from .node_groups import DeclaredGroups, join_list

MAX_LABELS = 64
MAX_SUGGESTIONS = 200
"""Number of findings after which no likely name is searched any more."""
MAX_FAULTS = 20
"""Maximum number of faults of a placement that are reported."""


@dataclass(frozen=True)
class Context:
    """Shared context of all components of a file.

    `asked` gets, for components
    on nodes without counted accelerators, the number of accelerators that the ranks span.
    `lacks_nodes`: the caller's cluster has fewer nodes than the file.
    """

    notes: Notes
    cluster: Cluster | None
    groups: DeclaredGroups
    asked: dict[str, int] = field(default_factory=dict)
    lacks_nodes: bool = False


def read_labels(notes: Notes, value: Value, name: str, declaration: DeclaredGroups, in_flow: bool = False) -> tuple[str, ...] | None:
    """Return the labels in written order; None (noted) if any is unknown.

    A single label is taken as written, several labels are stripped, as in RLinf. A YAML list, which
    RLinf's documentation promises, is read as its text.
    """
    if is_unknown(value):
        return None
    usable = [group.label for group in declaration.groups if group.label not in declaration.empty and "," not in group.label]
    candidates = list(dict.fromkeys([*usable, *RESERVED_LABELS]))
    if isinstance(value, Scalar) and value.is_null and "None" not in {*candidates, *declaration.broken}:
        edit = notes.replace(value, CLUSTER_LABEL)
        report(notes, "node group empty", name, value, edit)
        return (CLUSTER_LABEL,) if edit else None
    if replacement := join_list(notes, value, in_flow):
        report(notes, "node group list", name, value, replacement[1], labels=replacement[0].text)
        value = replacement[0]
    if not isinstance(value, Scalar):
        notes.report_type(name, "node_group", value, "the label of a node group", "write a label such as `a800`, or `a800,4090`")
        return None
    text = notes.text(value, name)
    pieces, is_short = text.text.split(","), len(notes.findings) < MAX_SUGGESTIONS
    labels = [piece.strip() for piece in pieces] if len(pieces) > 1 else pieces
    if len(labels) > MAX_LABELS:
        report(notes, "too many node groups", name, value, count=len(labels), most=MAX_LABELS)
        return None
    if len(labels) > 1:
        report(notes, "several node groups", name, value, count=len(labels))
    free_labels = [candidate for candidate in candidates if candidate not in labels]
    corrections = [label if label in {*candidates, ""} else nearest(label.strip(), free_labels) if is_short else None for label in labels]
    better = ",".join(filter(None, corrections))
    choices = [*(f"`{label}`" for label in candidates[:12]), *(["..."] if candidates[12:] else [])]
    starts = accumulate((len(piece) + 1 for piece in pieces), initial=0)
    for label, correction, start in zip(labels, corrections, (text.text.find(label, start) for label, start in zip(labels, starts))):
        place = text.part(start, start + len(label)) if text.shift is not None and label else text.scalar
        if label in declaration.empty:
            report(notes, "node group without nodes", name, place, label=label)
        elif label not in candidates and label not in declaration.broken and not declaration.nameless:
            edit = text.replace(better, in_flow) if better and None not in corrections else None
            help = f"write `{correction or better}`" if correction or edit else f"name one of {', '.join(choices)}"
            report(notes, "node group unknown", name, place, edit, label=label, choices=", ".join(choices), help=help)
    is_unusable = any(label in {*declaration.broken, *declaration.empty} for label in labels)
    is_unsure = declaration.nameless and not set(labels) <= set(candidates)
    return None if is_unusable or is_unsure or not better or None in corrections else tuple(filter(None, corrections))


def number_ranks(cluster: Cluster | None, labels: tuple[str, ...]) -> NumberedResources:
    """Return the numbering of ranks; RLinf counts each group by its own kind."""
    if cluster is None:
        return NumberedResources(None, "resource", labels)
    if not is_counted(cluster, labels):
        return number_groups(cluster, labels)
    count = sum(cluster.numbering((label,)).size for label in labels)
    numbering = number_groups(cluster, labels, count)
    if not numbering.size:
        return replace(numbering, note=", so RLinf raises an IndexError")
    return replace(numbering, excess=count - numbering.size)


def place_component(spec: WrittenPlacement, spans: Mapping[str, Span]) -> Component | None:
    """Return the component; None (noted) if its place is unknown."""
    context, name, labels = spec.context, spec.name, spec.labels
    notes, cluster = context.notes, context.cluster
    resources = number_ranks(cluster, labels)
    placement = read_placement(spec.text.text, resources)
    machines = cluster if resources.size is not None else None
    runs = runs_of(placement.pairs, machines, labels) if machines and not placement.faults and placement.processes <= MAX_PROCESSES else ()
    code = why_not(runs, in_order=True)
    common_nodes = shared_nodes(cluster, labels) if cluster else []
    spec.fix = spec.correction(bool(code or common_nodes or placement.faults))
    if common_nodes:
        spec.report("node in several groups", spec.group, node=common_nodes[0])
    elif len(set(labels)) < len(labels):
        spec.report("node group twice", spec.group)
    if placement.faults:
        report_faults(spec, placement.faults, resources)
        return None
    if placement.processes > MAX_PROCESSES:
        report(notes, "too many processes", name, spec.text.scalar, count=placement.processes, most=MAX_PROCESSES)
        return None
    sizes = {max(1, pair.resources // pair.processes) for pair in placement.pairs}
    per_process = 1 if len(sizes) > 1 or (cluster and cluster.kind(labels) == NODE) else min(sizes, default=1)
    amount = placement.processes * per_process
    if machines is None:
        minimum, maximum = (1, UNBOUNDED) if placement.open else (amount, amount)
        context.asked[name] = max((pair.stop for pair in placement.pairs), default=0)
        why, add = "accelerators per node unknown", "Pass `--cluster x8`"
        if cluster is None:
            why, add = "number of nodes unknown", "Pass `--set cluster.num_nodes=VALUE`"
        elif context.lacks_nodes:
            why, add = "accelerators of the missing nodes unknown", "Name all nodes with `--cluster`"
        notes.unsure("PW102", name, why, True, add)
        return Component(name, labels, minimum, maximum, per_process, spans=spans) if cluster else None
    if code == "PW302":
        before, run = next((a, b) for a, b in zip(runs, runs[1:]) if b.ranks.start < a.ranks.stop and a.kind != b.kind)
        spec.report("two kinds of hardware", rank=run.ranks.start, first=before.kind, second=run.kind)
    elif code == "PW108" and len(set(labels)) == len(labels) and (duplicate := twice(runs)):
        run, label, resource = duplicate
        spec.report("held twice", kind=run.kind, resource=resource, node=run.node, first=label, second=run.node_group)
    if common_nodes or code == "PW302":
        return None
    fixes = {code: spec.fix} if code and spec.fix else {}
    return Component(name, labels, amount, amount, per_process, runs=runs, spans=spans, fixes=fixes)


def report_faults(spec: WrittenPlacement, faults: list[PlacementFault], resources: NumberedResources) -> None:
    """Note the faults of a placement, as warnings where the nodes may have more hardware."""
    text, context = spec.text, spec.context
    is_open = any(group.label in spec.labels for group in context.groups.groups if group.hardware and group.hardware.open)
    for fault in faults[:MAX_FAULTS]:
        help = "write `ranks` or `ranks:processes` in ascending order, several of them with commas, such as `0-1:0-3,2-3`"
        if fault.code == "PW102":
            help = f"name ranks below {resources.size}" if resources.size else "choose a node group that has something to place on"
        place = text.scalar if text.shift is None else text.part(fault.start, fault.end)
        # The nodes themselves may have more hardware than the file states: then a lack is not
        # proved.
        is_short = fault.code == "PW102" or (resources.size == 0 and text.text[fault.start : fault.end].strip().lower() == "all")
        add_fault = context.notes.warn if is_open and is_short else context.notes.error
        help, edit = (spec.fix.help, spec.fix.edit) if spec.fix else (help, None)
        add_fault(fault.code, spec.name, f"`{spec.name}`: {fault.message}", place, fault.label, help, edit)


@dataclass
class WrittenPlacement:
    """Placement of a component as written, with its `node_group`; `fix` is the correction, once known."""

    context: Context
    name: str
    text: ScalarText
    labels: tuple[str, ...]
    in_flow: bool
    group: Value | None = None
    fix: Fix | None = None

    def report(self, finding: str, at: Value | None = None, **values: Any) -> None:
        """Add a finding of facts/findings.json, with the correction if known."""
        report(self.context.notes, finding, self.name, at or self.text.scalar, fix=self.fix, **values)

    def correction(self, is_broken: bool) -> Fix | None:
        """Return the closest ranks that RLinf starts; None if correct or without a known correction."""
        text, cluster, unique = self.text.text, self.context.cluster, tuple(dict.fromkeys(self.labels))
        if not is_broken:
            return None
        resources = number_ranks(cluster, unique)
        numbering = cluster.numbering(unique) if cluster and resources.size is not None else None
        better = correct_text(text, resources, numbering, lambda candidate: _starts(candidate, unique, cluster))
        if better is None:
            return None
        return Fix(f"write `{better if self.text.shift == 1 else plain_or_quoted(better)}`", self.text.replace(better, self.in_flow))


def _starts(placement: PlacementText, labels: tuple[str, ...], cluster: Cluster | None) -> bool:
    """Return True if RLinf reads a placement without a fault, and starts it."""
    if placement.faults or cluster is None or not is_counted(cluster, labels):
        return not placement.faults
    return not shared_nodes(cluster, labels) and not why_not(runs_of(placement.pairs, cluster, labels), in_order=True)


def shared_nodes(cluster: Cluster, labels: tuple[str, ...]) -> list[int]:
    """Return nodes in several of the groups, where nodes are placed on; RLinf refuses them."""
    if len(labels) == 1 or cluster.kind(labels) != NODE:
        return []
    return [node for node, times in Counter(node for label in labels for node in cluster.groups[label].node_ranks).items() if times > 1]


KEYS = ("node_group", "placement")
"""Keys in the long form of a component's placement."""


def component_placement(notes: Notes, section: MapNode, value: Value | None, has_hints: bool) -> MapNode | None:
    """Return the map; None if missing, unknown or invalid, with a finding unless hints suffice."""
    if isinstance(value, MapNode):
        return value
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
    earlier_names: set[str] = set()
    runs = 0
    for entry in value:
        names = _names(context.notes, value, entry, earlier_names)
        base = _entry(context, entry, next(iter(names), entry.key.text), value.flow)
        runs += len(base.runs or ()) * len(names) if base else 0
        if runs > MAX_RUNS:
            report(context.notes, "too many runs", "cluster", entry.key.span, most=MAX_RUNS)
            break
        for name, span in names.items():
            if base is not None:
                components[name] = replace(base, name=name, spans={**base.spans, "name": span})
    return tuple(components.values())


def _names(notes: Notes, owner: MapNode, entry: Entry, earlier_names: set[str]) -> dict[str, Span]:
    """Return the components of a key such as `actor,rollout`, with their spans."""
    text, names = notes.text(entry.key, entry.key.text), dict[str, Span]()
    pieces = text.text.split(",")
    remaining = ",".join(name for name in dict.fromkeys(piece.strip() for piece in pieces) if name and name not in earlier_names)
    edit = text.replace(remaining, owner.flow) if remaining else notes.remove(owner, entry)
    if remaining and owner.entry(remaining) is not None:
        edit = None
    position = 0
    for piece in pieces:
        name, start = piece.strip(), position + len(piece) - len(piece.lstrip())
        span, help = text.part(start, start + len(name)), f"write `{remaining}`" if remaining and edit else "remove one of the two"
        if not name:
            report(notes, "empty name", entry.key.text, span, edit, help=f"write `{remaining}`" if remaining else "write a name")
        elif name in earlier_names:
            report(notes, "placed twice", name, span, edit, help=help)
        else:
            names[name] = span
            earlier_names.add(name)
        position += len(piece) + 1
    return names


def _entry(context: Context, entry: Entry, name: str, in_flow: bool) -> Component | None:
    notes, value = context.notes, entry.value
    if is_unknown(value):
        return None
    labels: tuple[str, ...] | None = (CLUSTER_LABEL,)
    group: Value | None = None
    spans: dict[str, Span] = {}
    placement: Value = value
    if isinstance(value, MapNode):
        in_flow = value.flow
        value = notes.unknown_keys(value, name, KEYS, False, f"the placement of `{name}`", required=("placement",))
        inner = value.get("placement")
        if (group := value.get("node_group")) is not None:
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
        return place_component(WrittenPlacement(context, name, notes.ranks(scalar, name, in_flow), labels, in_flow, group), spans)
    spec = WrittenPlacement(replace(context, cluster=None), name, notes.ranks(scalar, name, in_flow), (CLUSTER_LABEL,), in_flow)
    is_declared = isinstance(group, Scalar) and group.text in context.groups.broken
    notes.unsure("PW102", name, "its node group is not known", True, f"{'Correct' if is_declared else 'Declare'} its node group")
    resources, spec.fix = number_ranks(None, spec.labels), spec.correction(True)
    report_faults(spec, read_placement(spec.text.text, resources).faults, resources)
    return None


def _ranks_of(notes: Notes, placement: Value, name: str, in_flow: bool) -> Scalar | None:
    """Return the placement, or a corrected one; None if unknown."""
    if is_unknown(placement):
        return None
    if not isinstance(placement, Scalar):
        scalar, edit = join_list(notes, placement, in_flow) or (None, None)
        if scalar is None or not all(map(RANKS.fullmatch, scalar.text.split(","))):
            scalar, edit = None, None
        help = f"write `{scalar.text}`" if scalar else "write ranks such as `0-7`"
        report(notes, "placement no ranks", name, placement, edit, kind=kind_of(placement), help=help)
        return scalar if edit else None
    if placement.is_null:
        report(notes, "placement empty", name, placement, notes.replace(placement, "all"))
        return None
    return placement


def accelerators_per_node(ones: Cluster, nodes: Figure, components: tuple[Component, ...], counts: Mapping[str, int]) -> Derivation | None:
    """Return the largest demand for accelerators per node; None without ranks.

    `ones`: the `nodes` of the file with one accelerator each, so that groups count nodes. `counts`:
    component -> accelerators of its groups that its ranks span, if they could not be resolved.
    """
    sizes = [(component, counts.get(component.name, 0), ones.numbering(component.node_groups).size) for component in components]
    component, count, has = max(sizes, key=lambda entry: -(-entry[1] // entry[2]) if entry[2] else 0, default=(None, 0, 0))
    if component is None or not count or not has:
        return None
    formula = f"ranks 0-{count - 1} of {component.name} // {with_noun(has, 'node')}, rounded up"
    ranks = Figure(f"placement of {component.name}", f"0-{count - 1}", component.span("placement"))
    return Derivation("", ACCELERATORS_PER_NODE, -(-count // has), formula, (nodes, ranks))
