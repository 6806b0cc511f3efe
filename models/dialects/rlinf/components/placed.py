"""One component's placement as runs; and where that cannot be, every reason at once, with what would mend it.

Source: RLinf, rlinf/scheduler/placement/placement.py (ComponentPlacement), and flexible.py and node.py for what is
noticed only when the workers are started.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Mapping, Sequence

from ....component import UNBOUNDED, Component
from ....configuration.notes import Notes
from ....findings.fix import Fix
from ....findings.span import Span
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, Numbering, Stretch
from ....machines.shorthand import MAX_NODES
from ....notation.launchable import twice, why_not
from ....notation.mapping import runs_of, runs_over
from ....notation.placement_text import Fault, Numbered, PlacementText, read_placement
from ....placements.assignment import Run, met, repeats_of
from ..capabilities import MAX_PROCESSES
from ..cluster.node_groups import DeclaredGroups
from .form import Form, Written, shared_nodes
from .groups_of import numbered_by

MAX_FAULTS = 20
"""How many faults of one placement are shown."""


@dataclass(frozen=True)
class Context:
    """What all components of a file share.

    `per_node`: accelerators of each node, where more nodes could be declared. `asked` gets, for a component of nodes whose
    accelerators are not counted, how many of them its ranks reach over. `lacks_nodes`: the named cluster has fewer nodes than the file.

    """

    notes: Notes
    cluster: Cluster | None
    groups: DeclaredGroups
    per_node: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    lacks_nodes: bool = False


def placed(context: Context, written: Written, spans: Mapping[str, Span]) -> Component | None:
    """The component; None where its place cannot be told, and the reasons are noted."""
    notes, cluster, name, labels = context.notes, context.cluster, written.name, written.labels.names
    numbered = numbered_by(cluster, labels)
    found = read_placement(written.text.text, numbered)
    counted = cluster if numbered.size is not None else None
    runs = runs_of(found.pairs, counted, labels) if counted and not found.faults and found.processes <= MAX_PROCESSES else ()
    broken = why_not(runs, in_order=True)
    shared = shared_nodes(cluster, labels) if cluster else []
    fix = _fix(context, written, bool(broken or shared or found.faults))
    _groups(notes, written, shared, fix)
    if found.faults:
        _faults(context, written, found.faults, numbered, fix)
        return None
    if found.processes > MAX_PROCESSES:
        message = f"`{name}` has {found.processes:,} processes; more than {MAX_PROCESSES:,} are not read"
        notes.error("PW002", name, message, written.text.scalar, "too many", "name fewer processes")
        return None
    kind = cluster.kind(labels) if cluster else ACCELERATOR
    each = 1 if kind == NODE else _each(found)
    amount = found.processes * each
    if counted is None:
        least, most = (1, UNBOUNDED) if found.open else (amount, amount)
        context.asked[name] = max((pair.stop for pair in found.pairs), default=0)
        why, add = "accelerators per node unknown", "Pass `--cluster x8`"
        if cluster is None:
            why, add = "number of nodes unknown", "Pass `--set cluster.num_nodes=VALUE`"
        elif context.lacks_nodes:
            why, add = "accelerators of the missing nodes unknown", "Name all nodes with `--cluster`"
        notes.unsure("PW102", name, why, True, add)
        return Component(name, labels, least, most, each, spans=spans) if cluster else None
    if shared:
        return None
    if broken == "PW302":
        _two_kinds(notes, written, runs, fix)
        return None
    if broken == "PW108" and len(set(labels)) == len(labels):
        _numbered_twice(notes, written, runs, fix)
    _vendors(notes, written, runs, counted)
    fixes = {broken: fix} if broken and fix else {}
    return Component(name, labels, amount, amount, each, runs=runs, spans=spans, fixes=fixes)


def check_text(context: Context, written: Written) -> None:
    """Note what is wrong with a placement whatever its groups are."""
    alone = replace(context, cluster=None)
    context.notes.unsure("PW102", written.name, "its node group is not known", True, "Declare its node group")
    found = read_placement(written.text.text, numbered_by(None, written.labels.names))
    if found.faults:
        _faults(alone, written, found.faults, numbered_by(None, written.labels.names), _fix(alone, written, True))


def _each(found: PlacementText) -> int:
    """Resources of one process, if all processes have as many; else 1."""
    sizes = {max(1, pair.resources // pair.processes) for pair in found.pairs}
    return sizes.pop() if len(sizes) == 1 else 1


def _fix(context: Context, written: Written, broken: bool) -> Fix | None:
    """What mends the component; None where nothing is wrong with it, or nothing that is known mends it."""
    labels = written.labels
    if not broken and not labels.listed and len(set(labels.names)) == len(labels.names):
        return None
    better = written.better(context.cluster)
    if better is None or (better == _form(written) and not labels.listed):
        return None
    fix = written.fix(better, context.notes)
    if fix.edit is not None:
        context.notes.absorb(fix.edit)
    return fix


def _form(written: Written) -> Form:
    return written.labels.names, written.text.text


def _groups(notes: Notes, written: Written, shared: list[int], fix: Fix | None) -> None:
    """What is wrong with the node groups alone, whatever the placement is."""
    name, labels, value = written.name, written.labels, written.labels.value
    help, edit = (fix.help, fix.edit) if fix else ("", None)
    if labels.listed and value is not None:
        message = f"`node_group` of `{name}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
        notes.warn("PW105", name, message, value, "a list", help or f"write `{','.join(labels.names)}`", edit)
    if shared:
        more = f" ({len(shared)} nodes are)" if len(shared) > 1 else ""
        message = f"`{name}`: node {shared[0]} is in several of its groups{more}, so it is numbered twice; RLinf refuses that at launch"
        notes.error("PW108", name, message, written.group_place, "", help or "use groups without common nodes", edit)
    elif len(set(labels.names)) < len(labels.names) and value is not None:
        message = f"`{name}` names a node group twice, so its resources are numbered twice, and held twice without a word"
        notes.warn("PW108", name, message, value, "", help or "name each once", edit)


def _faults(context: Context, written: Written, faults: list[Fault], numbered: Numbered, fix: Fix | None) -> None:
    text, name = written.text, written.name
    edit = fix.edit if fix else None
    more = _more_nodes(context, written, faults)
    if len(faults) > MAX_FAULTS:
        message = f"`{name}`: there are {len(faults):,} faults in this placement; the first {MAX_FAULTS} are shown"
        context.notes.error(faults[0].code, name, message, text.scalar, f"{len(faults):,} faults", "write ranges such as `0-7`", edit)
    open_ = context.groups.open.intersection(written.labels.names)
    for fault in faults[:MAX_FAULTS]:
        help = fix.help if fix else _advice(fault.code, numbered)
        help += f", or set `num_nodes: {more}`" if more and fault.code == "PW102" else ""
        place = text.scalar if text.shift is None else text.part(fault.start, fault.end)
        # More hardware may be found on the nodes themselves than the file says: then it is not proved to be too little.
        short = fault.code == "PW102" or (numbered.size == 0 and text.text[fault.start : fault.end].strip().lower() == "all")
        report = context.notes.warn if open_ and short else context.notes.error
        report(fault.code, name, f"`{name}`: {fault.message}", place, fault.label, help, edit)


def _more_nodes(context: Context, written: Written, faults: list[Fault]) -> int | None:
    """How many nodes would mend all faults, where nodes can be added."""
    asked = [fault.last for fault in faults if fault.last is not None]
    if not context.per_node or not asked or written.labels.names != (CLUSTER_LABEL,) or len(asked) < len(faults):
        return None
    nodes = max(asked) // context.per_node + 1
    if nodes > MAX_NODES:
        return None
    numbering = Numbering(ACCELERATOR, (Stretch(0, CLUSTER_LABEL, context.per_node, nodes),))
    found = read_placement(written.text.text, Numbered(numbering.size, "accelerator", "", ""))
    if found.faults or found.processes > MAX_PROCESSES:
        return None
    return nodes if not why_not(runs_over(found.pairs, numbering, {CLUSTER_LABEL: ACCELERATOR}), in_order=True) else None


def _advice(code: str, numbered: Numbered) -> str:
    if code == "PW102":
        return f"name ranks below {numbered.size}" if numbered.size else "choose a node group that has something to place on"
    if code == "PW103":
        return "write `ranks`, `ranks:processes`, or several of them with commas, such as `0-1:0-3,2-3`"
    return "write ranks that ascend, each once, with as many processes as they can be divided among, such as `0-1:0-3,2-3`"


def _two_kinds(notes: Notes, written: Written, runs: Sequence[Run], fix: Fix | None) -> None:
    one, other = next((a, b) for a, b in zip(runs, runs[1:]) if b.ranks.start < a.ranks.stop and a.kind != b.kind)
    rank = other.ranks.start
    message = f"process {rank} of `{written.name}` would hold {one.kind} and {other.kind}; RLinf refuses that at launch"
    help, edit = (fix.help, fix.edit) if fix else ("give each process one kind of hardware", None)
    notes.error("PW302", written.name, message, written.text.scalar, "", help, edit)


def _numbered_twice(notes: Notes, written: Written, runs: Sequence[Run], fix: Fix | None) -> None:
    found = twice(runs)
    if found is not None:
        run, label, resource = found
        message = (
            f"`{written.name}` holds {run.kind} {resource} of node {run.node} twice, through the groups `{label}` and "
            f"`{run.node_group}`; RLinf does not notice"
        )
        help, edit = (fix.help, fix.edit) if fix else ("use groups without common nodes", None)
        notes.warn("PW108", written.name, message, written.text.scalar, "numbered twice", help, edit)


def _vendors(notes: Notes, written: Written, runs: Sequence[Run], cluster: Cluster) -> None:
    """RLinf lets one component be on accelerators of several vendors, which hardly any communication library connects."""
    first: dict[str, int] = {}
    for run, node, _ in met(cluster, repeats_of(runs)):
        if run.kind == ACCELERATOR:
            first.setdefault(node.accelerator_type, run.node)
    if len(first) > 1:
        listed = " and ".join(f"{vendor} (node {node})" for vendor, node in first.items())
        message = f"`{written.name}` is on accelerators of several vendors, {listed}; RLinf starts that without a word"
        notes.warn(
            "PW302",
            written.name,
            message,
            written.text.scalar,
            f"{len(first)} vendors",
            "give each vendor's nodes a component, or a node group",
        )
