"""Scope of a plan: kinds of plans that are searched besides the plain ones."""

from __future__ import annotations

from dataclasses import replace

from .component import TP, Component, Keep
from .machines.topology import NODE_LEVEL
from .problem import Problem

SPANNING, HETEROGENEOUS, NESTED = SCOPES = ("spanning", "heterogeneous", "nested")
"""Widenings: tp groups over nodes, several models, a part of another's accelerators."""
LIMITS = {
    SPANNING: "each tp group on one node",
    HETEROGENEOUS: "one accelerator model a component",
    NESTED: "accelerators shared whole",
}
"""Widening of the scope -> property of every plan in the plain scope."""

WIDENS = {
    SPANNING: "tp groups span nodes",
    HETEROGENEOUS: "a component be on several accelerator models",
    NESTED: "a component use only some of another's accelerators",
}
"""Widening of the scope -> allowed layout."""


def let_over_nodes(component: Component) -> Component:
    """Let tp groups span nodes at a penalty, unless the component restricts them."""
    if any(keep.unit == TP for keep in component.keep):
        return component
    return replace(component, keep=(*component.keep, Keep(TP, NODE_LEVEL, required=False)))


def has_groups(problem: Problem, component: Component) -> bool:
    """Return True if a component may have tp groups of several accelerators."""
    choices = problem.job.choices.get(component.name, (component.parallel,))
    return any(problem.divide(component.name, choice).tp > 1 for choice in choices)


def widen_scope(problem: Problem) -> Problem:
    """Return the problem in scope: tp groups may span nodes if the scope is spanning."""
    workload = problem.job.planning.workload
    if workload is None or not workload.spanning:
        return problem
    parts = tuple(let_over_nodes(component) if has_groups(problem, component) else component for component in problem.components)
    return replace(problem, job=replace(problem.job, components=parts))
