"""Sums that show what is asked between components impossible, whatever the cluster looks like."""

from __future__ import annotations

from typing import Iterator

from ....models.component import IN_ORDER, NOT_FEWER, SUBSET, UNBOUNDED, Component
from ....models.findings.wording import plural
from ....models.machines.node_group import ACCELERATOR
from ...layout.layout import Layout
from ...wording import listed
from .question import Question
from .row import Row


def relation_row(question: Question) -> Row | None:
    """The first relation that the amounts alone rule out."""
    if not any(question.problem.related(kind) for kind in (SUBSET, IN_ORDER, NOT_FEWER)):
        return None
    layout = question.layout
    return next((row for rows in (_within(layout), _in_order(layout), _not_fewer(layout)) for row in rows), None)


def _within(layout: Layout) -> Iterator[Row]:
    """What lies within a searched bundle needs more than that may have."""
    for pool in layout.pools:
        if pool.host is not None and pool.host.bounded:
            need = sum(bundle.unit * bundle.least for bundle in pool.bundles)
            have = pool.host.unit * pool.host.most
            if need > have:
                members = tuple(component for bundle in pool.bundles for component in bundle.components)
                verb = "needs" if len(members) == 1 else "need"
                sentence = f"{listed([c.name for c in members])} {verb} {need} {plural('accelerator', need)} within {pool.host.name}, which has at most {have}"
                yield Row((*members, *pool.host.components), need, have, sentence)


def _in_order(layout: Layout) -> Iterator[Row]:
    """Components that must fill the cluster cannot, even as large as they may be."""
    problem = layout.problem
    for relation in problem.related(IN_ORDER):
        members = tuple(problem[name] for name in relation.components)
        most, size = sum(_most(component) for component in members), problem.cluster.total(ACCELERATOR)
        if most < size:
            sentence = f"{listed(relation.components)} come in order and must fill the cluster: at most {most}, the cluster has {size}"
            yield Row(members, size, most, sentence)


def _not_fewer(layout: Layout) -> Iterator[Row]:
    """The one must have more processes than it may have."""
    problem = layout.problem
    for relation in problem.related(NOT_FEWER):
        one, other = (problem[name] for name in relation.components)
        most, least = _most_processes(layout, one), _least_processes(layout, other)
        if most < least:
            sentence = f"{one.name} must have as many processes as {other.name}: at most {most}, at least {least} are needed"
            yield Row((one, other), least, most, sentence)


def _most(component: Component) -> int:
    return component.most if component.runs is None else sum(run.amount for run in component.runs)


def _placed(layout: Layout, component: Component) -> int | None:
    """The processes of a component that nothing is searched for; None for the others."""
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    return None if runs is None else max((run.ranks.stop for run in runs), default=0)


def _most_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return min(component.most, UNBOUNDED) // component.per_process if placed is None else placed


def _least_processes(layout: Layout, component: Component) -> int:
    placed = _placed(layout, component)
    return -(-component.least // component.per_process) if placed is None else placed
