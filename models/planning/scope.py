"""The scope of a plan: which sorts of plans are searched beside the plainest."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ..component import Component
from ..locality import TP, Keep
from ..machines.topology import NODE_LEVEL

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


def with_scope(components: Collection[Component], divided: Collection[str], is_spanning: bool) -> tuple[Component, ...]:
    """Components as the scope has them: groups of those that may have a tp above 1 over nodes where it is spanning.

    `divided` : components with several choices of degrees.
    """
    if not is_spanning:
        return tuple(components)
    return tuple(let_over_nodes(each) if each.parallel.tp > 1 or each.name in divided else each for each in components)
