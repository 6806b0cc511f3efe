"""Rendering of a problem as a new native file."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...component import KEYS, Component
from ...conversion import Data, counts_to_data, links_to_data, other_hints_to_data, relation_to_data
from ...findings.finding import Finding, UnusableInput
from ...job import Share
from ...machines.cluster_file import cluster_to_short_data as cluster_to_data
from ...machines.node_group import CLUSTER_LABEL, NODE
from ...placements.assignment import compress, seats
from ...placements.placement_text import number_groups, read_placement, runs_of
from ...placements.run import Run
from ...placements.runs_text import best_text, labels_used, placement_list
from ...problem import Problem
from ...releases.choice import ReleaseChoice
from ...text.edit import number_or_text, to_yaml
from ...training_job import TrainingJob
from ..dialect import JobBatch, Rendering
from .placement import deal_by_stride
from .sharing import colocations, crossing
from .writing import text_of


def render(problem: Problem, release: ReleaseChoice | None = None, batch: JobBatch | None = None) -> Rendering:
    """Return the file; components keep their names."""
    losses: list[Finding] = []
    names = {component.name: component.name for component in problem.components}
    sharing_relations = colocations(problem) if problem.job.capabilities.shares_accelerators else ()
    permissions = [*(["overlap"] if sharing_relations is None else []), *crossing(problem)]
    key_relations = tuple(relation for relation in problem.job.relations if relation.kind in KEYS and not relation.reason)
    problem_to_write = replace(problem, job=replace(problem.job, relations=(*key_relations, *(sharing_relations or ()))))
    components = {component.name: _component(problem_to_write, component, names, losses) for component in problem.components}
    relations = [
        relation_to_data(relation, names) for relation in problem.job.relations if relation not in key_relations or relation.reason
    ]
    work = [_work(share) for share in problem.shares]
    data: Data = {"cluster": cluster_to_data(problem.cluster)}
    sections = {"allow": permissions, "components": components, "relations": relations, **links_to_data(problem, names), "work": work}
    data |= {key: value for key, value in sections.items() if value}
    return Rendering(to_yaml(data), tuple(losses), names)


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """See `Dialect.training_file`; a native file says the batches in `plan`, which stays."""
    return f"# {title}\n{render(problem).text}"


def _component(problem: Problem, component: Component, names: dict[str, str], losses: list[Finding]) -> Data:
    data = other_hints_to_data(problem, component, names, losses)
    if component.runs is None:
        return counts_to_data(problem, component) | data
    labels, placement = _placement(problem, component, component.runs)
    if isinstance(placement, str):
        placement = number_or_text(placement)
    data = ({} if labels == (CLUSTER_LABEL,) else {"node_group": ",".join(labels)}) | data | {"placement": placement}
    if (component.least, component.most, component.per_process) != _imply_amount(problem, component, component.runs):
        data = counts_to_data(problem, component) | data
    elif component.unit > component.group_size and component.per_process > 1:
        data = {"accelerators_per_process": component.per_process} | data  # the stride is dealt out in processes of this size
    return data


def _imply_amount(problem: Problem, component: Component, runs: Sequence[Run]) -> tuple[int, int, int]:
    """Return (least, most, resources of a process) implied by the placement alone."""
    sizes = [max(1, len(process_seats)) for _, process_seats in seats(runs)]
    per_process = 1 if problem.kind(component) == NODE or len(set(sizes)) > 1 else max(sizes, default=1)
    return len(sizes) * per_process, len(sizes) * per_process, per_process


def _placement(problem: Problem, component: Component, runs: Sequence[Run]) -> tuple[tuple[str, ...], object]:
    """Return node groups and the placement: a text if possible, else a list of entries."""
    if component.unit > component.group_size:
        labels = labels_used(runs, component.node_groups)
        text = text_of(problem, component, runs, labels)
        placement = read_placement(text, number_groups(problem.cluster, labels))
        dealt_seats = deal_by_stride(component, runs_of(placement.pairs, problem.cluster, labels))
        if list(seats(compress(dealt_seats, problem.cluster.kind(labels), labels[0]))) == list(seats(runs)):
            return labels, text
    try:
        return best_text(component.name, runs, problem.cluster, component.node_groups)
    except UnusableInput:
        labels = labels_used(runs, component.node_groups)
        return labels, placement_list(runs, names_group=len(labels) > 1)


def _work(share: Share) -> Data:
    data: Data = {"component": share.component, "what": share.noun, "amount": share.amount}
    if share.multiple > 1:
        data["multiple"] = share.multiple
    if not share.proved:
        data["required"] = False
    return data | ({"reason": share.reason} if share.reason else {})
