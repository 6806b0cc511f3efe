"""The scope of a plan: which sorts of plans are searched beside the plainest."""

from __future__ import annotations

from dataclasses import replace

from .component import Component
from .locality import TP, Keep
from .machines.topology import NODE_LEVEL
from .problem import Problem

SPANNING, HETEROGENEOUS, NESTED = SCOPES = ("spanning", "heterogeneous", "nested")
"""Tensor parallel groups over nodes; a component on several models of accelerators; a component on some of another's accelerators."""
LIMITS = {
    SPANNING: "each tp group on one node",
    HETEROGENEOUS: "one accelerator model a component",
    NESTED: "accelerators shared whole",
}
"""Widening of the scope -> what holds of every plan without it."""

WIDENS = {
    SPANNING: "tp groups lie over nodes",
    HETEROGENEOUS: "a component be on several accelerator models",
    NESTED: "a component use only some of another's accelerators",
}
"""Widening of the scope -> what it lets be."""


def let_over_nodes(component: Component) -> Component:
    """Let tensor parallel groups lie over nodes, unless the component says where they lie; they had better not."""
    if any(keep.what == TP for keep in component.keep):
        return component
    return replace(component, keep=(*component.keep, Keep(TP, NODE_LEVEL, required=False)))


def has_groups(problem: Problem, component: Component) -> bool:
    """True if a component may have tensor parallel groups of several accelerators, with any of its degrees."""
    choices = problem.job.choices.get(component.name, (component.parallel,))
    return any(problem.divided(component.name, each).tp > 1 for each in choices)


def in_scope(problem: Problem) -> Problem:
    """The problem of a file as its scope has it: with tensor parallel groups over nodes where it is spanning."""
    workload = problem.job.planning.workload
    if workload is None or not workload.spanning:
        return problem
    parts = tuple(let_over_nodes(each) if has_groups(problem, each) else each for each in problem.components)
    return replace(problem, job=replace(problem.job, components=parts))
