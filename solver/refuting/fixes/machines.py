"""More machines: the smallest number of nodes, like those that there are, with which it is possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.findings.wording import plural
from ....models.machines.accelerators import GENERIC
from ....models.machines.changed import with_nodes
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE_LABEL
from ....models.problem import Problem
from ...wording import listed
from ..certificate import row_of
from ..conflict import ADDED, Change
from ..packing import looks, packs
from ..rows.question import Question
from ..rows.row import Row
from .trial import Apply, Trial

MAX_TRIES = 12


def more_nodes(trial: Trial, row: Row) -> Iterator[Change]:
    """The fewest further nodes of the kind that the components of the row may use most of."""
    problem = trial.problem
    sample = _sample(problem, row)
    if sample is None:
        return
    count = len(problem.cluster.nodes)
    room = sample.count(ACCELERATOR) // max(row.size, 1) if row.size and not row.level else 0
    # By the row alone fewer do not suffice.
    least = -(-(row.need - row.have) // room) if room else 1
    most, tries = least, 0
    while not _enough(trial, sample, most):
        least, most, tries = most + 1, most * 2, tries + 1
        if tries > MAX_TRIES or most > 4 * count:
            return
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if _enough(trial, sample, middle) else (middle + 1, most)
    where = " in a rack of their own" if sample.topology.get("rack") and most > 1 else ""
    size = sample.count(ACCELERATOR)
    what = plural("accelerator", size) if sample.accelerator_model == GENERIC else sample.accelerator_model
    text = f"add {most} {plural('node', most)} with {size} {what}{where}{_to_groups(problem, row)}"
    yield Change(text, (ADDED, most / count), adding(sample, most))


def _to_groups(problem: Problem, row: Row) -> str:
    """The node groups that new nodes must join so that the components of the row may use them."""
    components = [component for component in row.components if component.runs is None]
    labels = {label for each in components for label in each.node_groups if label not in (CLUSTER_LABEL, NODE_LABEL)}
    groups = [f"`{label}`" for label in problem.cluster.groups if label in labels]
    return f", in node {plural('group', len(groups))} {listed(groups)}" if groups else ""


def adding(sample: Node, more: int) -> Apply:
    """The question on a cluster with so many more nodes like the sample, which are in the groups that it is in."""

    def apply(problem: Problem) -> Problem:
        return replace(problem, cluster=with_nodes(problem.cluster, sample, more))

    return apply


def _enough(trial: Trial, sample: Node, more: int) -> bool:
    """Is it possible with so many more nodes? Where counting nodes tells, they are only counted."""
    census = trial.oracle.census.with_more(sample, more)
    questions = [Question(problem, census) for problem in trial.alternatives]
    if all(looks(question) for question in questions):
        return any(row_of(question) is None and packs(question) for question in questions)
    return trial.works(adding(sample, more))


def _sample(problem: Problem, row: Row) -> Node | None:
    """The largest node that every component of the row may use, the first of them; None if there is none, or no accelerators count."""
    components = [component for component in row.components if component.runs is None]
    if not components or any(problem.kind(component) != ACCELERATOR for component in components):
        return None
    inside = frozenset.intersection(*(problem.cluster.members(component.node_groups) for component in components))
    models = {component.accelerator_model for component in components if component.accelerator_model}
    memory = max(component.memory for component in components)
    usable = [
        alike.node
        for alike, _ in problem.cluster.alike_among(sorted(inside))
        if models <= {alike.node.accelerator_model} and (alike.node.accelerator_memory is None or alike.node.accelerator_memory >= memory)
    ]
    largest = max(usable, key=lambda node: node.count(ACCELERATOR), default=None)
    return largest if largest and largest.accelerators else None
