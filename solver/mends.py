"""Other ranks for given components: what a rule proposes where they break it. Whoever shows one has checked it first."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping

from ..models.component import Component
from ..models.findings.span import Edit
from ..models.machines.node_group import NODE
from ..models.notation.placement_text import Pair, runs_of
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.record import dataclass
from .wording import listed, lowest


@dataclass(frozen=True)
class Mend:
    """One change: in words, as the problem that it leads to, and as edits of the text where the ranks stand in it."""

    text: str
    problem: Problem
    edits: tuple[Edit, ...]


def held_range(problem: Problem, component: Component) -> range | None:
    """The resource ranks of a given component, numbered by its groups; None if they are no solid range of one a process."""
    if component.runs is None or problem.kind(component) == NODE:
        return None
    assignment = Assignment({component.name: component.runs})
    first = problem.cluster.numbering(component.node_groups).first
    masks = {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask}
    if not masks or not masks.keys() <= first.keys():
        return None
    low = min(first[node] + lowest(mask) for node, mask in masks.items())
    high = max(first[node] + mask.bit_length() for node, mask in masks.items())
    used = sum(mask.bit_count() for mask in masks.values())
    return range(low, high) if used == high - low == assignment.world_size(component.name) else None


def moved_off(problem: Problem, one: Component, other: Component) -> Iterator[Mend]:
    """The first without what the second holds, where a solid range is left."""
    mine, theirs = held_range(problem, one), held_range(problem, other)
    if mine is None or theirs is None or one.node_groups != other.node_groups:
        return
    common = len(range(max(mine.start, theirs.start), min(mine.stop, theirs.stop)))
    for rest in (range(mine.start, min(mine.stop, theirs.start)), range(max(mine.start, theirs.stop), mine.stop)):
        if rest and len(rest) + common == len(mine):
            yield given_ranges(problem, {one.name: rest})


def moved_onto(problem: Problem, one: Component, other: Component) -> Iterator[Mend]:
    """Both on what the second holds, if that is a solid range."""
    theirs = held_range(problem, other)
    if theirs is not None and held_range(problem, one) is not None and one.node_groups == other.node_groups:
        yield given_ranges(problem, {other.name: theirs, one.name: theirs})


def given_ranges(problem: Problem, ranges: Mapping[str, range]) -> Mend:
    """Components on these solid ranges of their numbering, one resource a process; with them all that stand at the same place."""
    places = {span: its for name, its in ranges.items() if (span := problem[name].spans.get("placement"))}
    components = []
    for component in problem.components:
        span = component.spans.get("placement")
        ranks = ranges.get(component.name) or (places.get(span) if span else None)
        if ranks is not None and component.runs is not None:
            runs = runs_of([Pair(ranks.start, ranks.stop, len(ranks))], problem.cluster, component.node_groups)
            component = replace(component, runs=runs, least=len(ranks), most=len(ranks))
        components.append(component)
    changed = replace(problem, job=replace(problem.job, components=tuple(components)))
    written = problem.job.capabilities.range_text
    texts = {its: [name for name in ranges if ranges[name] == its] for its in ranges.values()}
    text = "give " + ", ".join(f"{listed(names)} `{written(its)}`" for its, names in texts.items())
    moved = [(name, its) for name, its in ranges.items() if held_range(problem, problem[name]) != its]
    spans = {span: its for name, its in moved if (span := problem[name].spans.get("placement"))}
    edits = tuple(Edit(span, _scalar(written(its))) for span, its in spans.items())
    return Mend(text, changed, edits)


def _scalar(text: str) -> str:
    """In quotes where it has a comma: it may stand in a flow map."""
    return f'"{text}"' if "," in text else text
