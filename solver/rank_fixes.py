"""Fixes of explicit ranks, proposed by rules; callers check them before use."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping

from ..models.component import Component
from ..models.findings.span import Edit
from ..models.machines.node_group import NODE
from ..models.placements.assignment import Assignment
from ..models.placements.placement_text import RankRange, runs_of
from ..models.problem import Problem
from ..models.record import dataclass
from .stretches import extent
from .wording import join_names


@dataclass(frozen=True)
class RankFix:
    """Fix: description, changed problem, and edits of the ranks in the text."""

    text: str
    problem: Problem
    edits: tuple[Edit, ...]


def contiguous_range(problem: Problem, component: Component) -> range | None:
    """Return the resource ranks of an explicit component as a range, numbered by its groups.

    None unless the ranks are contiguous with one resource per process.
    """
    if component.runs is None or problem.kind(component) == NODE:
        return None
    assignment = Assignment({component.name: component.runs})
    first = problem.cluster.numbering(component.node_groups).first
    masks = {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask}
    if not masks or not masks.keys() <= first.keys():
        return None
    low, high = extent(first, masks)
    count = sum(mask.bit_count() for mask in masks.values())
    return range(low, high) if count == high - low == assignment.world_size(component.name) else None


def move_off(problem: Problem, component: Component, partner: Component) -> Iterator[RankFix]:
    """Yield `component` without the resources of `partner`, if a contiguous range remains."""
    own_range, partner_range = contiguous_range(problem, component), contiguous_range(problem, partner)
    if own_range is None or partner_range is None or component.node_groups != partner.node_groups:
        return
    common = len(range(max(own_range.start, partner_range.start), min(own_range.stop, partner_range.stop)))
    for rest in (
        range(own_range.start, min(own_range.stop, partner_range.start)),
        range(max(own_range.start, partner_range.stop), own_range.stop),
    ):
        if rest and len(rest) + common == len(own_range):
            yield fix_with_ranges(problem, {component.name: rest})


def move_onto(problem: Problem, component: Component, target: Component) -> Iterator[RankFix]:
    """Yield both components on the range of `target`, if contiguous."""
    partner_range = contiguous_range(problem, target)
    if partner_range is not None and contiguous_range(problem, component) is not None and component.node_groups == target.node_groups:
        yield fix_with_ranges(problem, {target.name: partner_range, component.name: partner_range})


def fix_with_ranges(problem: Problem, ranges: Mapping[str, range]) -> RankFix:
    """Return a fix with contiguous ranges for components, a resource per process.

    Components whose ranks stand at the same place in the text change with them.
    """
    places = {span: ranks for name, ranks in ranges.items() if (span := problem[name].spans.get("placement"))}
    components = []
    for component in problem.components:
        span = component.spans.get("placement")
        ranks = ranges.get(component.name) or (places.get(span) if span else None)
        if ranks is not None and component.runs is not None:
            runs = runs_of([RankRange(ranks.start, ranks.stop, len(ranks))], problem.cluster, component.node_groups)
            component = replace(component, runs=runs, least=len(ranks), most=len(ranks))
        components.append(component)
    variant = replace(problem, job=replace(problem.job, components=tuple(components)))
    write = problem.job.capabilities.range_text
    texts = {ranks: [name for name in ranges if ranges[name] == ranks] for ranks in ranges.values()}
    text = "give " + ", ".join(f"{join_names(names)} `{write(ranks)}`" for ranks, names in texts.items())
    moves = [(name, ranks) for name, ranks in ranges.items() if contiguous_range(problem, problem[name]) != ranks]
    spans = {span: ranks for name, ranks in moves if (span := problem[name].spans.get("placement"))}
    edits = tuple(Edit(span, _scalar(write(ranks))) for span, ranks in spans.items())
    return RankFix(text, variant, edits)


def _scalar(text: str) -> str:
    """Quote a text with commas, as it may stand in a flow map."""
    return f'"{text}"' if "," in text else text
