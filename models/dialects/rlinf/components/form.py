"""How one component is written, and how it could be written instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ....configuration.notes import Notes, Text
from ....findings.finding import UnusableInput
from ....findings.fix import Fix
from ....findings.span import Edit, Span
from ....machines.cluster import Cluster
from ....machines.node_group import CLUSTER_LABEL, NODE
from ....notation.launchable import why_not
from ....notation.mapping import runs_of
from ....notation.mend import mended
from ....notation.placement_text import PlacementText, read_placement
from ....notation.runs_text import placement_text
from ....placements.assignment import Run
from ....text.scalar_text import in_flow_map, plain_or_quoted
from ....text.tree import Scalar
from .groups_of import Labels, numbered_by

Form = tuple[tuple[str, ...], str]
"""(labels of the node groups, placement)."""


@dataclass(frozen=True)
class Written:
    """A component: its placement, its node groups, and whether they stand in a flow map."""

    name: str
    text: Text
    labels: Labels
    in_flow: bool

    def better(self, cluster: Cluster | None) -> Form | None:
        """The same component in a form that RLinf starts, as near to the written one as can be told; None if there is none."""
        seen = set()
        for form in self._forms(cluster):
            if form not in seen and works(form, cluster):
                return form
            seen.add(form)
        return None

    def _forms(self, cluster: Cluster | None) -> Iterator[Form]:
        text, unique = self.text.text, tuple(dict.fromkeys(self.labels.names))
        yield unique, text
        yield from _mended(unique, text, cluster)
        if len(unique) > 1 and cluster is not None:
            yield from (((label,), text) for label in unique)
            yield from _in_order_of_nodes(self.name, unique, text, cluster)
            for label in unique:
                yield from _mended((label,), text, cluster)

    def fix(self, form: Form, notes: Notes) -> Fix:
        """The change that makes this form of it; one edit, even where both values change."""
        labels, text = form
        of_text = self.text.replaced(text, self.in_flow) if text != self.text.text else None
        says = f"`{text if self.text.shift == 1 else plain_or_quoted(text)}`"
        if labels == self.labels.names and not self.labels.listed:
            return Fix(f"write {says}", of_text)
        joined = ",".join(labels)
        shown = f"`node_group: {plain_or_quoted(joined)}`"
        of_labels = self._labelled(joined)
        if text == self.text.text:
            return Fix(f"write {shown}", of_labels)
        both = notes.joined(of_labels, of_text) if of_labels and of_text else None
        return Fix(f"write {shown} with {says}", both)

    def _labelled(self, joined: str) -> Edit | None:
        value = self.labels.value
        if value is None or (isinstance(value, Scalar) and value.origin is not None) or value.span.file != self.text.scalar.span.file:
            return None
        return Edit(value.span, in_flow_map(joined) if self.in_flow else plain_or_quoted(joined))

    @property
    def group_place(self) -> Span | Scalar:
        """Where the node groups are written; the placement where they are not."""
        return self.labels.value.span if self.labels.value is not None else self.text.scalar


def works(form: Form, cluster: Cluster | None) -> bool:
    """Does RLinf read this form without a fault, and start it?"""
    labels, text = form
    numbered = numbered_by(cluster, labels)
    found = read_placement(text, numbered)
    return not found.faults and (cluster is None or numbered.size is None or _starts(found, cluster, labels))


def _starts(found: PlacementText, cluster: Cluster, labels: tuple[str, ...]) -> bool:
    return not shared_nodes(cluster, labels) and not why_not(runs_of(found.pairs, cluster, labels), in_order=True)


def shared_nodes(cluster: Cluster, labels: tuple[str, ...]) -> list[int]:
    """Where nodes are placed on, those that several of the groups hold; RLinf refuses them at launch."""
    if len(labels) == 1 or cluster.kind(labels) != NODE:
        return []
    seen: set[int] = set()
    twice = []
    for label in labels:
        for node in cluster.groups[label].node_ranks:
            if node in seen:
                twice.append(node)
            seen.add(node)
    return twice


def _mended(labels: tuple[str, ...], text: str, cluster: Cluster | None) -> Iterator[Form]:
    numbered = numbered_by(cluster, labels)
    counted = cluster if numbered.size is not None else None
    numbering = counted.numbering(labels) if counted else None
    better = mended(text, numbered, numbering, lambda found: counted is None or _starts(found, counted, labels))
    if better is not None:
        yield labels, better


def _in_order_of_nodes(name: str, labels: tuple[str, ...], text: str, cluster: Cluster) -> Iterator[Form]:
    """The same accelerators, with the groups and the processes in the order of the nodes."""
    found = read_placement(text, numbered_by(cluster, labels))
    if found.faults:
        return
    runs = sorted(runs_of(found.pairs, cluster, labels), key=lambda run: (run.node, run.first))
    ranked, rank = [], 0
    for run in runs:
        ranked.append(Run(range(rank, rank + len(run.ranks)), run.node, run.kind, run.first, run.each, run.step, run.pitch, run.node_group))
        rank += len(run.ranks)
    used = tuple(dict.fromkeys(run.node_group for run in runs)) or (CLUSTER_LABEL,)
    try:
        yield used, placement_text(name, ranked, cluster, used)
    except UnusableInput:
        return
