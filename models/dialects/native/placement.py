"""Explicit placement of a component as text: `placement: 0-7`, numbered by its node groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator, Sequence

from ...component import Component, Parallel
from ...findings.finding import Finding, error
from ...findings.span import Edit, Span
from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...placements.assignment import Seat, compress, seats
from ...placements.placement_text import numbered, read_placement, runs_of
from ...placements.run import Run
from ...placements.sound import why_not
from ...text.edit import in_flow_map, plain_or_quoted
from ...text.source import Source
from ...text.tree import Scalar
from .agreed import with_placement_amounts

MAX_PROCESSES = 1 << 20


def place_by_text(
    component: Component, degrees: Iterable[Parallel], written: Scalar, source: Source, cluster: Cluster, findings: list[Finding]
) -> Component | None:
    """Return the component with its runs; None and findings if the placement is invalid.

    `degrees` are the candidate parallel degrees; a stride takes the first degrees whose blocks fill
    the ranks.
    """
    labels = component.node_groups
    placement = read_placement(written.text, numbered(cluster, labels))
    spans = {**component.spans, "placement": written.span}
    if placement.faults or placement.processes > MAX_PROCESSES:
        better = _better(written.text, cluster, labels)
        # Quotes allow a flow map around the text.
        quoted = source.text[written.span.start : written.span.start + 1] in ("'", '"')
        edit = None
        if better is not None and written.origin is None:
            edit = Edit(written.span, in_flow_map(better) if quoted else plain_or_quoted(better))
        advice = f"write `{better}`" if edit else "write `ranks`, or `ranks:processes`, such as `0-3:0-7`"
        for fault in placement.faults:
            span, message = _place(written, source, fault.start, fault.end), f"`{component.name}`: {fault.message}"
            findings.append(
                error(fault.code, component.name, message, span, label=fault.label, help=advice, edit=edit, origin=written.origin)
            )
        if not placement.faults:
            message = f"`{component.name}` has {placement.processes:,} processes, more than the {MAX_PROCESSES:,} that are read"
            findings.append(error("PW102", component.name, message, written.span, help="name fewer processes"))
        return None
    runs: Sequence[Run] = runs_of(placement.pairs, cluster, labels)
    amount = sum(run.amount for run in runs)
    sizes = {max(1, pair.resources // pair.processes) for pair in placement.pairs}
    component = with_placement_amounts(component, runs, cluster.kind(labels), sizes, findings)
    candidates = (
        candidate for candidate in (replace(component, parallel=parallel) for parallel in degrees) if amount % candidate.unit == 0
    )
    if component.contiguous and component.stride > 1:
        component = next(candidates, component)
    if component.unit > component.group_size:
        if amount % component.unit:
            message = f"the {with_noun(amount, 'accelerator')} of `{component.name}` {are(amount)} no whole blocks of {component.unit}, so its stride cannot be kept"
            advice = f"give it a multiple of {component.unit}"
            findings.append(
                error(
                    "PW206",
                    component.name,
                    message,
                    written.span,
                    label=with_noun(amount, "accelerator"),
                    help=advice,
                    amount=amount % component.unit,
                )
            )
            return None
        runs = compress(strided(component, runs), cluster.kind(labels), labels[0])
    return replace(component, runs=runs, spans=spans)


def _better(text: str, cluster: Cluster, labels: tuple[str, ...]) -> str | None:
    """Return a corrected text with each process on a single node; None if unknown."""
    from ...placements.mend import corrected

    known = numbered(cluster, labels)
    if known.size is None:
        return corrected(text, known)
    return corrected(
        text, known, cluster.numbering(labels), lambda candidate: not why_not(runs_of(candidate.pairs, cluster, labels), in_order=False)
    )


def strided(component: Component, runs: Sequence[Run]) -> Iterator[tuple[int, list[Seat]]]:
    """Yield (rank, seats) with groups interleaved by the component's stride."""
    ordered = [seat for _, process_seats in seats(runs) for seat, _, _ in process_seats]
    size, rank = component.group_size, 0
    for start in range(0, len(ordered), component.unit):
        block = ordered[start : start + component.unit]
        for position in range(component.stride):
            group = block[position :: component.stride]
            for first in range(0, size, component.per_process):
                yield rank, group[first : first + component.per_process]
                rank += 1


def _place(written: Scalar, source: Source, start: int, end: int) -> Span:
    """Return the span of some characters of a placement; of the whole value if unknown."""
    text = source.text[written.span.start : written.span.end]
    shift = 0 if text == written.text else 1 if text[1:-1] == written.text else -1
    if shift < 0 or written.origin is not None:
        return written.span
    return written.span.part(shift + start, shift + max(end, start + 1))
