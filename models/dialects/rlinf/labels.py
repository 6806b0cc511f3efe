"""The node groups that a component names, and how their resources are numbered."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from ...configuration.notes import Notes, Text, is_unknown
from ...findings.finding import Severity
from ...findings.span import Edit, Span
from ...machines.cluster import Cluster
from ...machines.node_group import CLUSTER_LABEL
from ...notation.numbered import is_counted, numbered
from ...notation.placement_text import Numbered
from ...record import dataclass
from ...releases.release import Range
from ...text.nearest import nearest
from ...text.tree import Scalar, Sequence, Value
from .known import RESERVED_LABELS, SEVERAL_GROUPS
from .node_groups import DeclaredGroups

MAX_LABELS = 64
MAX_SUGGESTIONS = 200
"""After so many findings no likely name is looked for any more."""


@dataclass(frozen=True)
class Labels:
    """The node groups of a component, in the written order; `value` is None where none are written."""

    names: tuple[str, ...] = (CLUSTER_LABEL,)
    value: Value | None = None

    @property
    def listed(self) -> bool:
        """True if they are written as a YAML list."""
        return isinstance(self.value, Sequence)


def read_labels(notes: Notes, value: Value, name: str, declared: DeclaredGroups, in_flow: bool = False) -> Labels | None:
    """The labels, all known; None if one is not (the reason is noted).

    A single label is taken as it is written, several are stripped, as RLinf does. A YAML list, which its documentation promises, is
    taken too; the caller says that its parser refuses it.
    """
    if is_unknown(value):
        return None
    usable = [group.label for group in declared.groups if group.label not in declared.empty and "," not in group.label]
    known = list(dict.fromkeys([*usable, *RESERVED_LABELS]))
    if isinstance(value, Scalar) and value.is_null and "None" not in {*known, *declared.broken}:
        message = f"`node_group` of `{name}` is empty: RLinf takes that for the label `None`, which no group has"
        edit = notes.instead(value, CLUSTER_LABEL)
        notes.error("PW107", name, message, value, "this is the label `None`", f"write `{CLUSTER_LABEL}`, or remove the key", edit)
        return Labels(value=value) if edit else None
    written: list[tuple[str, Span | Scalar, Edit | None]]
    if isinstance(value, Scalar):
        written = _labels_in(notes, notes.text(value, name), known, in_flow)
    elif isinstance(value, Sequence) and value.items and all(isinstance(item, Scalar) and not is_unknown(item) for item in value.items):
        texts = [notes.text(item, name) for item in value.items if isinstance(item, Scalar)]
        written = [(text.text, text.scalar, text.replaced(_meant(notes, text.text, known) or "", True)) for text in texts]
    else:
        notes.wrong_type(name, "node_group", value, "the label of a node group", "write a label such as `a800`, or `a800,4090`")
        return None
    if len(written) > MAX_LABELS:
        message = f"`{name}` names {len(written):,} node groups; more than {MAX_LABELS} are not read"
        notes.error("PW002", name, message, value, "too many", "name each group once")
        return None
    if len(written) > 1 and isinstance(value, Scalar):
        message = f"`{name}` names {len(written)} node groups; RLinf before 0.2 takes all of it for one label"
        older, help = Range(until=SEVERAL_GROUPS.since), "name one group, or run RLinf 0.2"
        notes.judge(older, Severity.ERROR, "PW107", name, message, value, "several", help)
    found = [_checked(notes, name, declared, known, *each) for each in written]
    labels = tuple(label for label in found if label)
    return Labels(labels, value) if labels and None not in found else None


def _meant(notes: Notes, label: str, known: list[str]) -> str | None:
    """The label that was meant; "" for an empty one, which is a comma too many; None if none is near."""
    if label in known or not label:
        return label
    return nearest(label.strip(), known) if len(notes.findings) < MAX_SUGGESTIONS else None


def _labels_in(notes: Notes, text: Text, known: list[str], in_flow: bool) -> list[tuple[str, Span | Scalar, Edit | None]]:
    """(label, its place, the edit that mends all of them) of `a800,4090`."""
    pieces = text.text.split(",")
    labels = [piece.strip() for piece in pieces] if len(pieces) > 1 else pieces
    meant = [_meant(notes, label, known) for label in labels]
    better = ",".join(label for label in meant if label)
    edit = text.replaced(better, in_flow) if better and None not in meant else None
    starts = accumulate((len(piece) + 1 for piece in pieces), initial=0)
    return [(label, _place(text, label, start), edit) for label, start in zip(labels, starts)]


def _place(text: Text, label: str, after: int) -> Span | Scalar:
    start = text.text.find(label, after)
    return text.scalar if text.shift is None or not label or start < 0 else text.part(start, start + len(label))


def _checked(
    notes: Notes, name: str, declared: DeclaredGroups, known: list[str], label: str, at: Span | Scalar, edit: Edit | None
) -> str | None:
    """The label that was meant; a finding where it is unknown, unless the group itself was blamed already."""
    if label in declared.broken or (declared.nameless and label not in known):
        return None
    if label in declared.empty:
        notes.error(
            "PW107", name, f"`{name}`: node group `{label}` has no nodes, so RLinf does not know it", at, "no nodes", "give it nodes"
        )
        return None
    meant = _meant(notes, label, known)
    if label not in known:
        listed = ", ".join(f"`{each}`" for each in known[:12]) + (" ..." if len(known) > 12 else "")
        better = meant or (edit.text if edit and meant is not None else "")
        help = f"write `{better}`" if better else f"name one of {listed}"
        message = f"`{name}`: there is no node group `{label}`, only {listed}"
        notes.error("PW107", name, message, at, "not a group", help, edit if meant is not None else None)
    return meant


def numbered_by(cluster: Cluster | None, labels: tuple[str, ...]) -> Numbered:
    """What the ranks of a placement on these groups count; RLinf counts each group by its own kind, even where nodes are placed on."""
    if cluster is None:
        return Numbered(None, "resource", ", ".join(f"`{label}`" for label in labels), "")
    if not is_counted(cluster, labels):
        return numbered(cluster, labels)
    counted = sum(cluster.numbering((label,)).size for label in labels)
    found = numbered(cluster, labels, counted)
    return (
        replace(found, excess=counted - found.size) if found.size else replace(found, shape=f"{found.shape}; RLinf ends in an IndexError")
    )
