"""A problem as a new native file: the cluster, what given ranks may do, and every component with its ranks or its hints."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...assignment import Run, compress, repeats_of, seats
from ...component import Component
from ...conversion.hints import Data, asked, shape
from ...conversion.losses import unsaid_demands
from ...conversion.machines import cluster_to_data, ranks_to_data
from ...finding import Finding, UnusableInput
from ...node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...notation.mapping import runs_of
from ...notation.numbered import numbered
from ...notation.placement_text import read_placement
from ...notation.runs_text import best_text, labels_used
from ...problem import Problem
from ...run import Repeat
from ...text.dump import number_or_text, to_yaml
from ..dialect import Rendering
from .placement import strided
from .shared import colocations, crossing
from .write import text_of


def render(problem: Problem) -> Rendering:
    """The file; components keep their names."""
    losses: list[Finding] = []
    names = {component.name: component.name for component in problem.components}
    shared = colocations(problem) if problem.job.capabilities.shares_accelerators else ()
    allowed = [*(["overlap"] if shared is None else []), *crossing(problem)]
    said = replace(problem, job=replace(problem.job, relations=(*problem.job.relations, *(shared or ()))))
    components = {each.name: _component(said, each, names, losses) for each in problem.components}
    losses += unsaid_demands(problem)
    data = {"cluster": cluster_to_data(problem.cluster), **({"allow": allowed} if allowed else {}), "components": components}
    return Rendering(to_yaml(data), tuple(losses), names)


def _component(problem: Problem, component: Component, names: dict[str, str], losses: list[Finding]) -> Data:
    data = shape(problem, component, names, losses)
    if component.runs is None:
        return asked(problem, component) | data
    labels, placement = _placement(problem, component, component.runs)
    if isinstance(placement, str):
        placement = number_or_text(placement)
    data = ({} if labels == (CLUSTER_LABEL,) else {"node_group": ",".join(labels)}) | data | {"placement": placement}
    if {"amount", "per_process"} & component.spans.keys():
        data = asked(problem, component) | data
    elif component.unit > component.group_size and component.per_process > 1:
        data = {"accelerators_per_process": component.per_process} | data  # the stride is dealt out in processes of this size
    return data


def _placement(problem: Problem, component: Component, runs: Sequence[Run]) -> tuple[tuple[str, ...], object]:
    """(node groups, placement in their numbering): as text where a text can say it, else process by process."""
    if component.unit > component.group_size:
        labels = labels_used(runs, component.node_groups)
        text = text_of(problem, component, runs, labels)
        found = read_placement(text, numbered(problem.cluster, labels))
        dealt = strided(component, runs_of(found.pairs, problem.cluster, labels))
        if list(seats(compress(dealt, problem.cluster.kind(labels), labels[0]))) == list(seats(runs)):
            return labels, text
    try:
        return best_text(component.name, runs, problem.cluster, component.node_groups)
    except UnusableInput:
        labels = labels_used(runs, component.node_groups)
        return labels, [entry for repeat in repeats_of(runs) for entry in _entries(repeat, len(labels) > 1)]


def _entries(repeat: Repeat, grouped: bool) -> Iterator[Data]:
    """Node by node: which ranks hold which resources, equal nodes as one where the ranks go on."""
    together = repeat.nodes > 1 and len(repeat.runs) == 1
    for run in repeat.runs if together else repeat:
        nodes = range(run.node, run.node + (repeat.nodes if together else 1))
        several = run.pitch == 0 and run.each > 1 and len(run.ranks) > 1  # equal shares cannot say that each holds all of them
        for ranks in [range(rank, rank + 1) for rank in run.ranks] if several else [run.ranks]:
            held = [index for rank in (ranks if run.pitch else ranks[:1]) for index in run.held_by(rank)]
            count = len(ranks) * len(nodes)
            entry: Data = {"ranks": ranks_to_data(range(ranks.start, ranks.start + count)), "node": ranks_to_data(nodes)}
            if run.kind != NODE:
                entry["accelerators" if run.kind == ACCELERATOR else "hardware"] = _indices(held)
            yield entry | ({"node_group": run.node_group} if grouped else {})


def _indices(held: list[int]) -> object:
    solid = held == list(range(held[0], held[0] + len(held)))
    return held[0] if len(held) == 1 else ranks_to_data(held) if solid else held
