"""Explicit placement of a component: a text such as `placement: 0-7`, numbered by its node groups, or a list of entries.

Example of a list: `placement: [{ranks: 0-3, node: 0, accelerators: 0-3}]`.
"""

from __future__ import annotations

from typing import Any, Collection, Iterable, Iterator, Sequence

from ...component import Component, Parallel
from ...findings.finding import Finding, error
from ...findings.span import Edit, Span
from ...findings.wording import are, plural, with_noun
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR, NODE
from ...placements.assignment import Assignment, Seat, compress, seats
from ...placements.placement_list import ListedPlacement, ListFault, read_list
from ...placements.placement_text import number_groups, read_placement, runs_of
from ...placements.run import Run
from ...placements.run_checks import why_not
from ...quantity import Counts, add, holds, nearest, write_counts
from ...record import replace
from ...text.edit import in_flow_map, plain_or_quoted
from ...text.source import Source
from ...text.tree import ListNode, MapNode, Scalar, Value, find, plain

CODE = "PW209"
MAX_PROCESSES = 1 << 20


def place_by_text(
    component: Component, degrees: Iterable[Parallel], value: Scalar, source: Source, cluster: Cluster, findings: list[Finding]
) -> Component | None:
    """Return the component with its runs; None and findings if the placement is invalid.

    `degrees` are the candidate parallel degrees; a stride takes the first degrees whose blocks fill
    the ranks.
    """
    labels = component.node_groups
    placement = read_placement(value.text, number_groups(cluster, labels))
    if placement.faults or placement.processes > MAX_PROCESSES:
        better = _better(value.text, cluster, labels)
        # Quotes allow a flow map around the text.
        has_quotes = source.text[value.span.start : value.span.start + 1] in ("'", '"')
        edit = None
        if better is not None and value.origin is None:
            edit = Edit(value.span, in_flow_map(better) if has_quotes else plain_or_quoted(better))
        advice = f"write `{better}`" if edit else "write `ranks`, or `ranks:processes`, such as `0-3:0-7`"
        for fault in placement.faults:
            span, message = _place(value, source, fault.start, fault.end), f"`{component.name}`: {fault.message}"
            finding = error(fault.code, component.name, message, span, label=fault.label, help=advice, edit=edit, origin=value.origin)
            findings.append(finding)
        if not placement.faults:
            message = f"`{component.name}` has {placement.processes:,} processes, more than the {MAX_PROCESSES:,} that are read"
            findings.append(error("PW102", component.name, message, value.span, help="name fewer processes"))
        return None
    runs = runs_of(placement.pairs, cluster, labels)
    sizes = {max(1, pair.resources // pair.processes) for pair in placement.pairs}
    component = place_component(component, value.span, runs, cluster.kind(labels), sizes, findings)
    if not component.contiguous or component.stride == 1:
        return component
    amount = sum(run.amount for run in runs)
    candidates = (replace(component, parallel=parallel) for parallel in degrees)
    component = next((candidate for candidate in candidates if amount % candidate.unit == 0), component)
    if component.unit <= component.group_size:
        return component
    if amount % component.unit:
        amount_text, rest = with_noun(amount, "accelerator"), amount % component.unit
        message = (
            f"the {amount_text} of `{component.name}` {are(amount)} not whole blocks of {component.unit}, so its stride cannot be kept"
        )
        advice = f"give it a multiple of {component.unit}"
        findings.append(error("PW206", component.name, message, value.span, label=amount_text, help=advice, amount=rest))
        return None
    return replace(component, runs=compress(deal_by_stride(component, runs), cluster.kind(labels), labels[0]))


def _better(text: str, cluster: Cluster, labels: tuple[str, ...]) -> str | None:
    """Return a corrected text with each process on a single node; None if unknown."""
    from ...placements.correction import correct_text

    resources = number_groups(cluster, labels)
    if resources.size is None:
        return correct_text(text, resources)
    return correct_text(
        text, resources, cluster.numbering(labels), lambda candidate: not why_not(runs_of(candidate.pairs, cluster, labels), in_order=False)
    )


def deal_by_stride(component: Component, runs: Sequence[Run]) -> Iterator[tuple[int, list[Seat]]]:
    """Yield (rank, seats) with groups interleaved by the component's stride."""
    all_seats = [seat for _, process_seats in seats(runs) for seat, _, _ in process_seats]
    size, rank = component.group_size, 0
    for start in range(0, len(all_seats), component.unit):
        block = all_seats[start : start + component.unit]
        for position in range(component.stride):
            group = block[position :: component.stride]
            for first in range(0, size, component.per_process):
                yield rank, group[first : first + component.per_process]
                rank += 1


def _place(value: Scalar, source: Source, start: int, end: int) -> Span:
    """Return the span of some characters of a placement; of the whole value if unknown."""
    text = source.text[value.span.start : value.span.end]
    shift = 0 if text == value.text else 1 if text[1:-1] == value.text else -1
    if shift < 0 or value.origin is not None:
        return value.span
    return value.span.part(shift + start, shift + max(end, start + 1))


def place_by_list(component: Component, placement: ListNode, cluster: Cluster, findings: list[Finding]) -> Component | None:
    """Return the component with its runs; None and findings if the list is invalid.

    `placement` has the right form (`PlacedForm`).
    """
    faults: list[ListFault] = []
    entries = list(_entries(component, placement, cluster, faults))
    runs = read_list(entries, cluster, faults) if not faults else ()
    for fault in faults:
        item = placement.items[fault.entry]
        value = find(item, fault.key) if fault.key else None
        edit = Edit(value.span, in_flow_map(fault.better)) if value and fault.better else None
        advice = f"write `{edit.text}`" if edit else fault.help or "write entries such as `{ranks: 0-3, node: 0, accelerators: 0-3}`"
        message, at = f"`{component.name}`: {fault.message}", (value or item).span
        findings.append(error(fault.code, component.name, message, at, label=fault.label, help=advice, edit=edit))
    if faults:
        return None
    sizes_by_rank: dict[int, int] = {}
    for run in runs:
        sizes_by_rank[run.ranks.start] = sizes_by_rank.get(run.ranks.start, 0) + run.each
    sizes = {max(1, size) for size in sizes_by_rank.values()}
    return place_component(component, placement.span, runs, cluster.kind(component.node_groups), sizes, findings)


def _entries(component: Component, placement: ListNode, cluster: Cluster, faults: list[ListFault]) -> Iterator[ListedPlacement]:
    """Yield the entries, each with node group and kind of resource."""
    for position, item in enumerate(placement.items):
        data = {entry.key.text: entry.value for entry in item} if isinstance(item, MapNode) else {}
        label = _text(data["node_group"]) if "node_group" in data else component.node_groups[0]
        if label not in component.node_groups:
            message, help_ = (
                f"`{label}` is none of its node groups",
                f"name one of {', '.join(f'`{group}`' for group in component.node_groups)}",
            )
            faults.append(ListFault("PW107", message, position, "node_group", "not one of its groups", help_))
            continue
        if {"accelerators", "hardware"} <= data.keys():
            faults.append(ListFault("PW302", "an entry holds accelerators or hardware, not both", position, "hardware", "both are named"))
            continue
        key = next((key for key in ("accelerators", "hardware") if key in data), "")
        kind = {"": NODE, "accelerators": ACCELERATOR}.get(key, cluster.groups[label].kind)
        if key == "hardware" and kind in (ACCELERATOR, NODE):
            message = f"`{label}` numbers {kind.lower()}s, so an entry in it names no hardware"
            faults.append(ListFault("PW302", message, position, "hardware", "no hardware"))
            continue
        yield ListedPlacement(_text(data["ranks"]), _text(data["node"]), label, kind, _texts(data[key]) if key else None)


def _text(value: Value) -> str:
    return str(plain(value))


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(map(_text, value.items)) if isinstance(value, ListNode) else (_text(value),)


# Comparison with the hints of the component.


def place_component(
    component: Component, span: Span, runs: Sequence[Run], kind: str, sizes: Collection[int], findings: list[Finding]
) -> Component:  # fmt: skip
    """Return the component with runs and their amounts; differing hints become findings.

    `sizes` is the set of resource counts of the processes. A process that shares a resource with
    other processes counts as if it had the resource alone, as in the rule on placed components
    (solver/rules/amounts.py).
    """
    spans, has_amount = {**component.spans, "placement": span}, "amount" in component.spans
    if kind == NODE and has_amount:
        return replace(component, runs=runs, spans=spans)  # the rule reports it
    if kind != NODE and (fault := _fault(component, kind, runs, sizes)):
        findings.append(fault)
    per_process = 1 if kind == NODE or len(sizes) != 1 else max(1, *sizes)
    amount = Assignment({component.name: runs}).world_size(component.name) * per_process
    amounts: dict[str, Any] = {"least": amount, "most": amount, "counts": ()}
    if has_amount:
        amounts = {"least": min(component.least, amount), "most": max(component.most, amount), "counts": add(component.counts, amount)}
    return replace(component, runs=runs, spans=spans, per_process=per_process, **amounts)


def _fault(component: Component, kind: str, runs: Sequence[Run], sizes: Collection[int]) -> Finding | None:
    """Return an error if the placement does not match the hints, else None."""
    name, spans, per_process = component.name, component.spans, component.per_process
    if not {"accelerators", "accelerators_per_process", "processes"} & spans.keys():
        return None
    assignment = Assignment({name: runs})
    # A shared resource counts once, or for each of its processes.
    amounts = assignment.count_held(name, kind), assignment.amount(name)
    noun = "accelerator" if kind == ACCELERATOR else kind
    demand = component.counts or ((component.least, component.most),)
    if "accelerators" in spans and not any(map(component.may_have, amounts)):
        return _mismatch(component, "accelerators", demand, noun, amounts[0])
    if "accelerators_per_process" in spans and set(sizes) != {per_process}:
        gives = " or ".join(map(str, sorted(sizes)))
        message = f"{name} asks for {with_noun(per_process, noun)} a process, its placement gives {gives}"
        advice = f"place {per_process} a process, or {f'ask for {gives}' if len(sizes) == 1 else 'drop `accelerators_per_process`'}"
        return error(CODE, name, message, spans["accelerators_per_process"], help=advice)
    demand = tuple((-(-low // per_process), high // per_process) for low, high in demand)
    processes = assignment.world_size(name)
    if "processes" in spans and not holds(demand, processes):
        return _mismatch(component, "processes", demand, "process", processes)
    return None


def _mismatch(component: Component, key: str, demand: Counts, noun: str, count: int) -> Finding:
    target = nearest(demand, count)
    message = f"{component.name} asks for {write_counts(demand)} {plural(noun, demand[-1][1])}, {count} {are(count)} placed"
    advice = f"place {target}, or ask for {count}"
    return error(CODE, component.name, message, component.spans[key], help=advice, witnesses=(count,), amount=abs(target - count))
