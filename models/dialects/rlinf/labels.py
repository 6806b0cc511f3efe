"""The node groups that a component names, and how their resources are numbered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Callable

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
from .known import SEVERAL_GROUPS
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
        """Are they written as a YAML list?"""
        return isinstance(self.value, Sequence)


def read_labels(notes: Notes, value: Value, name: str, declared: DeclaredGroups, in_flow: bool = False) -> Labels | None:
    """The labels, all known; None if one is not (the reason is noted).

    A single label is taken as it is written, several are stripped, as RLinf does. A YAML list, which its documentation
    promises, is taken too; that its parser refuses it is for the caller to say.
    """
    if is_unknown(value):
        return None
    known = _Known(notes, name, declared)
    if isinstance(value, Scalar) and value.is_null and not known.exists("None"):
        message = f"`node_group` of `{name}` is empty: RLinf takes that for the label `None`, which no group has"
        edit = notes.instead(value, CLUSTER_LABEL)
        notes.error("PW107", name, message, value, "this is the label `None`", f"write `{CLUSTER_LABEL}`, or remove the key", edit)
        return Labels(value=value) if edit else None
    if isinstance(value, Scalar):
        found = _written_as_text(known, notes.text(value, name), in_flow)
    elif isinstance(value, Sequence) and value.items and all(isinstance(i, Scalar) and not is_unknown(i) for i in value.items):
        texts = [notes.text(item, name) for item in value.items if isinstance(item, Scalar)]
        found = [known.meant(text.text, text.scalar, partial(_item, text), True) for text in texts]
    else:
        notes.wrong_type(name, "node_group", value, "the label of a node group", "write a label such as `a800`, or `a800,4090`")
        return None
    if len(found) > MAX_LABELS:
        message = f"`{name}` names {len(found):,} node groups; more than {MAX_LABELS} are not read"
        notes.error("PW002", name, message, value, "too many", "name each group once")
        return None
    if len(found) > 1 and isinstance(value, Scalar):
        message = f"`{name}` names {len(found)} node groups; RLinf before 0.2 takes all of it for one label"
        help = "name one group, or run RLinf 0.2"
        notes.judge(Range(until=SEVERAL_GROUPS.since), Severity.ERROR, "PW107", name, message, value, "several", help)
    labels = tuple(label for label in found if label)
    return Labels(labels, value) if labels and None not in found else None


def _written_as_text(known: _Known, text: Text, in_flow: bool) -> list[str | None]:
    """The labels of `a800,4090`; where all can be told, one edit mends them all."""
    pieces = [piece.strip() for piece in text.text.split(",")] if "," in text.text else [text.text]
    guesses = [known.guess(piece) for piece in pieces]
    meant = ",".join(guess for guess in guesses if guess)
    whole = text.replaced(meant, in_flow) if meant and None not in guesses else None
    found = []
    starts = accumulate((len(piece) + 1 for piece in text.text.split(",")), initial=0)
    for piece, start in zip(pieces, starts):
        place = _place(text, piece, start)

        def edit(label: str, in_flow: bool, place: Span | Scalar = place) -> Edit | None:
            return whole or (Edit(place, label) if isinstance(place, Span) and label else None)

        found.append(known.meant(piece, place, edit, in_flow))
    return found


def _item(text: Text, label: str, in_flow: bool) -> Edit | None:
    return text.replaced(label, in_flow) if label else None


def _place(text: Text, label: str, after: int) -> Span | Scalar:
    start = text.text.find(label, after)
    return text.scalar if text.shift is None or not label or start < 0 else text.part(start, start + len(label))


class _Known:
    """Which labels exist, and what to say of one that does not."""

    def __init__(self, notes: Notes, name: str, declared: DeclaredGroups) -> None:
        self.notes, self.name, self.declared = notes, name, declared
        usable = [group.label for group in declared.groups if group.label not in declared.empty and "," not in group.label]
        self.labels = list(dict.fromkeys([*usable, "cluster", "node"]))

    def exists(self, label: str) -> bool:
        return label in self.labels or label in self.declared.broken

    def guess(self, label: str) -> str | None:
        """The label that was meant; "" for an empty one, which is a comma too many; None if it cannot be told."""
        if label in self.labels or not label:
            return label
        return nearest(label.strip(), self.labels) if len(self.notes.findings) < MAX_SUGGESTIONS else None

    def meant(self, label: str, at: Span | Scalar, edit_to: Callable[[str, bool], Edit | None], in_flow: bool) -> str | None:
        """As `guess`; what is wrong with it is said, unless the group itself was blamed already: then it is None.

        `edit_to` gives the edit that writes another label there.
        """
        notes, name, declared = self.notes, self.name, self.declared
        if label in declared.broken or (declared.nameless and label not in self.labels):
            return None
        if label in self.labels:
            return label
        if label in declared.empty:
            message = f"`{name}`: node group `{label}` has no nodes, so RLinf does not know it"
            notes.error("PW107", name, message, at, "no nodes", "give it nodes")
            return None
        guess = self.guess(label)
        listed = ", ".join(f"`{each}`" for each in self.labels[:12]) + (" ..." if len(self.labels) > 12 else "")
        edit = edit_to(guess, in_flow) if guess is not None else None
        better = guess or (edit.text if edit else "")
        help = f"write `{better}`" if better else f"name one of {listed}"
        notes.error("PW107", name, f"`{name}`: there is no node group `{label}`, only {listed}", at, "not a group", help, edit)
        return guess


def numbered_by(cluster: Cluster | None, labels: tuple[str, ...]) -> Numbered:
    """What the ranks of a placement on these groups count."""
    if cluster is None:
        return Numbered(None, "resource", ", ".join(f"`{label}`" for label in labels), "")
    if not is_counted(cluster, labels):
        return numbered(cluster, labels)
    counted = _counted(cluster, labels)
    found = numbered(cluster, labels, counted)
    if not found.size:
        return replace(found, shape=f"{found.shape}; RLinf ends in an IndexError")
    return replace(found, excess=counted - found.size)


def _counted(cluster: Cluster, labels: tuple[str, ...]) -> int:
    """How many ranks RLinf takes the groups to have: each group by its own kind, even where nodes are placed on."""
    return sum(cluster.numbering((label,)).size for label in labels)
