"""The node groups that a component names, and how their resources are numbered."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from ...cluster import Cluster
from ...notation.numbered import is_counted, numbered
from ...notation.placement_text import Numbered
from ...span import Edit, Span
from ...text.nearest import nearest
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Scalar, Sequence, Value
from .node_groups import DeclaredGroups
from .notes import Notes, Text, is_unknown

MAX_LABELS = 64
MAX_SUGGESTIONS = 200
"""After so many findings no likely name is looked for any more."""


def read_labels(notes: Notes, value: Value, name: str, cluster: Cluster | None, declared: DeclaredGroups) -> tuple[str, ...] | None:
    """The labels, all known; None if one is not (the reason is noted).

    A single label is taken as it is written, several are stripped, as RLinf does. A YAML list, which its documentation
    promises, is taken too, with a warning that its parser refuses it.
    """
    if is_unknown(value):
        return None
    if isinstance(value, Scalar):
        text = notes.text(value, name)
        pieces = [piece.strip() for piece in text.text.split(",")] if "," in text.text else [text.text]
        starts = accumulate((len(piece) + 1 for piece in text.text.split(",")), initial=0)
        known = [_known(notes, label, name, _place(text, label, start), cluster, declared, text) for label, start in zip(pieces, starts)]
        labels = tuple(pieces)
    elif isinstance(value, Sequence) and value.items and all(isinstance(i, Scalar) and not is_unknown(i) for i in value.items):
        texts = [notes.text(item, name) for item in value.items if isinstance(item, Scalar)]
        labels = tuple(text.text for text in texts)
        written = plain_or_quoted(",".join(labels))
        message = f"`node_group` of `{name}` is a YAML list: RLinf's documentation allows it, its parser refuses it"
        notes.warn("PW105", name, message, value, "a list", f"write `{written}`", Edit(value.span, written))
        known = [_known(notes, text.text, name, text.scalar, cluster, declared, text) for text in texts]
    else:
        notes.wrong_type(name, "node_group", value, "the label of a node group", "write a label such as `a800`, or `a800,4090`")
        return None
    if len(labels) > MAX_LABELS:
        message = f"`{name}` names {len(labels):,} node groups; more than {MAX_LABELS} are not read"
        notes.error("PW002", name, message, value, "too many", "name each group once")
        return None
    if len(set(labels)) < len(labels) and all(known):
        notes.warn("PW108", name, f"`{name}` names a node group twice, so its resources are numbered twice", value, "", "name each once")
    return labels if all(known) else None


def _place(text: Text, label: str, after: int) -> Span | Scalar:
    start = text.text.find(label, after)
    return text.scalar if text.shift is None or not label or start < 0 else text.part(start, start + len(label))


def _known(notes: Notes, label: str, name: str, at: Span | Scalar, cluster: Cluster | None, declared: DeclaredGroups, text: Text) -> bool:
    if label in declared.broken:
        return False
    exist = [group.label for group in declared.groups if group.label not in declared.empty] + ["cluster", "node"]
    if label in exist:
        return True
    if declared.nameless:
        return False
    if label in declared.empty:
        notes.error(
            "PW107", name, f"`{name}`: node group `{label}` has no nodes, so RLinf does not know it", at, "no nodes", "give it nodes"
        )
        return False
    close = nearest(label.strip(), exist) if len(notes.findings) < MAX_SUGGESTIONS else None
    listed = ", ".join(f"`{each}`" for each in exist[:12]) + (" ..." if len(exist) > 12 else "")
    edit = None
    if close and label:
        edit = Edit(at, close) if isinstance(at, Span) else text.replaced(close) if text.text == label else None
    help = f"write `{close}`" if close else f"name one of {listed}"
    notes.error("PW107", name, f"`{name}`: there is no node group `{label}`, only {listed}", at, "not a group", help, edit)
    return False


def numbered_by(cluster: Cluster | None, labels: tuple[str, ...]) -> Numbered:
    """What the ranks of a placement on these groups count."""
    if cluster is None:
        return Numbered(None, "resource", ", ".join(f"`{label}`" for label in labels), "")
    if not is_counted(cluster, labels):
        return numbered(cluster, labels)
    counted = _counted(cluster, labels)
    found = numbered(cluster, labels, counted)
    return replace(found, excess=counted - (found.size or 0)) if found.size else found


def _counted(cluster: Cluster, labels: tuple[str, ...]) -> int:
    """How many ranks RLinf takes the groups to have: each group by its own kind, even where nodes are placed on."""
    return sum(cluster.nodes[rank].count(cluster.groups[label].kind) for label in labels for rank in cluster.groups[label].node_ranks)
