"""Amount that a component asks for: counts, ranges, lists, whole replicas."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, Sequence

from ..component import UNBOUNDED, Component, Parallel
from ..counts import Counts, in_both, is_one_range, times, write_counts
from ..findings.finding import UnusableInput, error
from ..findings.span import Edit, Span
from ..findings.wording import are, do, with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ..text.edit import is_flow
from ..text.source import Source
from ..text.tree import Entry, ListNode, MapNode, plain
from .forms import ComponentForm
from .locality import LET_OVER_NODES

KEY = "parallel"


def multiples(component: Component, parallel: Parallel, step: int, cluster: Cluster) -> str:
    """The multiples of `step` around what it asks for, of which there are enough accelerators, and a node with a whole tp group."""
    nodes = [cluster.nodes[rank].count(ACCELERATOR) for rank in cluster.members(component.node_groups)] if cluster.counted else []
    around = [count for count in (component.least // step * step, -(-component.least // step) * step) if count]
    fit = [str(count) for count in around if not nodes or count <= sum(nodes)]
    if not fit:
        return f"lower its degrees: there {are(sum(nodes))} {with_noun(sum(nodes), 'accelerator')}"
    asked = f"ask for {' or '.join(fit)}"
    if component.keep or not nodes or parallel.tp <= max(nodes):
        return asked
    return f"lower its degrees, or {asked} and {LET_OVER_NODES}"


def degrees_of(source: Source, hints: MapNode, parallel: Parallel) -> list[Edit]:
    """The edits that leave a component with these hints no other degrees: only lists and what comes through an interpolation change."""
    written = hints.entry(KEY)
    if written is None:
        return []
    if not isinstance(written.value, MapNode):
        its = {each.name: getattr(parallel, each.name) for each in fields(parallel)}
        shown = ", ".join(f"{name}: {degree}" for name, degree in its.items() if degree > 1 or name == "tp")
        return [Edit(written.value.span, f"{{{shown}}}")]
    entries = ((entry, getattr(parallel, entry.key.text)) for entry in written.value)
    return [_edit(source, entry, degree) for entry, degree in entries if plain(entry.value) not in (degree, [degree])]


def _edit(source: Source, entry: Entry, degree: int) -> Edit:
    value = entry.value
    if isinstance(value, ListNode) and not is_flow(source.text, value):  # its items stand in lines of their own
        key, end = entry.key.span, value.items[-1].span.end
        return Edit(Span(key.file, key.end, end, key.line, key.column + key.length), f": {degree}")
    return Edit(value.span, str(degree))


class Asked(NamedTuple):
    """Resources per process, the least and the most of all its processes, and which of the numbers between (none: all)."""

    each: int
    least: int
    most: int
    counts: Counts = ()


def amount(form: ComponentForm, name: str, on_nodes: bool, span: Span) -> Asked:
    """How much it asks for. Raises UnusableInput where `accelerators` and `processes` contradict each other."""

    def refuse(message: str, help_text: str) -> UnusableInput:
        return UnusableInput([error("PW121", name, message, span, help=help_text)])

    accelerators, processes, each = form.accelerators, form.processes, form.accelerators_per_process
    if on_nodes:
        if (accelerators or each) and CLUSTER_LABEL in form.node_group:
            raise refuse(
                f"`{name}` asks for accelerators, and no node of the cluster has any", "write `processes:`, or add nodes that have some"
            )
        if accelerators or each:
            raise refuse(f"`{name}` asks for accelerators in a group that numbers nodes", "write `processes:`, or name another node group")
        return _asked(1, processes)
    if accelerators and processes and each is None and (one := _number(accelerators)) and (other := _number(processes)):
        if one % other:
            raise refuse(
                f"{with_noun(one, 'accelerator')} of `{name}` {do(one)} not divide among {other} processes",
                "make one a multiple",
            )
        each = one // other
    each = each or 1
    by_process = times(processes, each) if processes else None
    if accelerators and by_process:
        if not (both := in_both(accelerators, by_process)):
            asked = f"{write_counts(accelerators)} accelerators and for {write_counts(by_process)} in processes of {each}"
            raise refuse(f"`{name}` asks for {asked}", "write one of the two, or `accelerators_per_process` too")
        return _asked(each, both)
    return _asked(each, accelerators or by_process)


def _asked(each: int, counts: Counts | None) -> Asked:
    if not counts:
        return Asked(each, 1, UNBOUNDED)
    return Asked(each, counts[0][0], counts[-1][1], () if is_one_range(counts) else counts)


def _number(counts: Sequence[tuple[int, int]]) -> int:
    """The only count; 0 where there are several."""
    return counts[0][0] if counts[0][0] == counts[-1][1] else 0
