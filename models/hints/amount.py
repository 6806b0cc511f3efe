"""Amount of a component: counts, ranges, lists, whole replicas."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, Sequence

from ..component import UNBOUNDED, Component, Parallel
from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span
from ..findings.wording import are, do, with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ..quantity import Counts, intersection, is_one_range, times, write_counts
from ..text.source import Source
from ..text.tree import ListNode, MapNode, plain
from .forms import LET_OVER_NODES, ComponentForm

KEY = "parallel"


def multiples(component: Component, parallel: Parallel, step: int, cluster: Cluster) -> str:
    """Return advice with multiples of `step` that the cluster and a node can hold."""
    nodes = [cluster.nodes[rank].count(ACCELERATOR) for rank in cluster.members(component.node_groups)] if cluster.counted else []
    around = [count for count in (component.least // step * step, -(-component.least // step) * step) if count]
    fit = [str(count) for count in around if not nodes or count <= sum(nodes)]
    if not fit:
        return f"lower its degrees: there {are(sum(nodes))} {with_noun(sum(nodes), 'accelerator')}"
    request = f"ask for {' or '.join(fit)}"
    if component.keep or not nodes or parallel.tp <= max(nodes):
        return request
    return f"lower its degrees, or {request} and {LET_OVER_NODES}"


def degrees_of(source: Source, hints: MapNode, parallel: Parallel) -> list[Edit]:
    """Return the edits that fix a component's degrees, in lists and interpolated values only."""
    degree_entry = hints.entry(KEY)
    if degree_entry is None:
        return []
    if not isinstance(degree_entry.value, MapNode):
        degrees = {field.name: getattr(parallel, field.name) for field in fields(parallel)}
        text = ", ".join(f"{name}: {degree}" for name, degree in degrees.items() if degree > 1 or name == "tp")
        return [Edit(degree_entry.value.span, f"{{{text}}}")]
    edits = list[Edit]()
    for entry in degree_entry.value:
        key, value, degree = entry.key.span, entry.value, getattr(parallel, entry.key.text)
        if plain(value) in (degree, [degree]):
            continue
        if isinstance(value, ListNode) and source.text[value.span.start] != "[":  # one line per item
            place = Span(key.file, key.end, value.items[-1].span.end, key.line, key.column + key.length)
            edits.append(Edit(place, f": {degree}"))
        else:
            edits.append(Edit(value.span, str(degree)))
    return edits


class AmountHint(NamedTuple):
    """Resources per process, range of the total, and allowed counts in it (empty: all)."""

    per_process: int
    least: int
    most: int
    counts: Counts = ()


def amount(form: ComponentForm, name: str, on_nodes: bool, span: Span) -> AmountHint:
    """Return the requested amount. Raises UnusableInput if its two keys contradict each other."""

    def refuse(message: str, help_text: str) -> UnusableInput:
        return UnusableInput([error("PW121", name, message, span, help=help_text)])

    accelerators, processes, per_process = form.accelerators, form.processes, form.accelerators_per_process
    if on_nodes:
        if (accelerators or per_process) and CLUSTER_LABEL in form.node_group:
            raise refuse(
                f"`{name}` asks for accelerators, and no node of the cluster has any", "write `processes:`, or add nodes that have some"
            )
        if accelerators or per_process:
            raise refuse(f"`{name}` asks for accelerators in a group that numbers nodes", "write `processes:`, or name another node group")
        return _build_amount(1, processes)
    if accelerators and processes and per_process is None and (total := _number(accelerators)) and (count := _number(processes)):
        if total % count:
            raise refuse(
                f"{with_noun(total, 'accelerator')} of `{name}` {do(total)} not divide among {count} processes",
                "make one a multiple",
            )
        per_process = total // count
    per_process = per_process or 1
    by_process = times(processes, per_process) if processes else None
    if accelerators and by_process:
        if not (both := intersection(accelerators, by_process)):
            request = f"{write_counts(accelerators)} accelerators and for {write_counts(by_process)} in processes of {per_process}"
            raise refuse(f"`{name}` asks for {request}", "write one of the two, or `accelerators_per_process` too")
        return _build_amount(per_process, both)
    return _build_amount(per_process, accelerators or by_process)


def _build_amount(per_process: int, counts: Counts | None) -> AmountHint:
    if not counts:
        return AmountHint(per_process, 1, UNBOUNDED)
    return AmountHint(per_process, counts[0][0], counts[-1][1], () if is_one_range(counts) else counts)


def _number(counts: Sequence[tuple[int, int]]) -> int:
    """Return the only count; 0 if there are several."""
    return counts[0][0] if counts[0][0] == counts[-1][1] else 0
