"""How many accelerators a node must have for the ranks that are written, where nobody said how many it has."""

from __future__ import annotations

from typing import Mapping

from ....component import Component
from ....derivation import ACCELERATORS_PER_NODE, Derivation, Figure
from ....findings.wording import with_noun
from ....machines.cluster import Cluster


def accelerators_per_node(ones: Cluster, nodes: Figure, components: tuple[Component, ...], asked: Mapping[str, int]) -> Derivation | None:
    """The most that any component needs; None where no ranks are written.

    Parameters
    ----------
    ones : the nodes with one accelerator each, so that the numbering of groups counts those nodes that have accelerators.
    nodes : how many nodes the file declares.
    asked : for components whose ranks could not be looked up, how many accelerators of their groups these reach over.
    """
    most: tuple[int, str, Figure] | None = None
    for component in components:
        count, has = asked.get(component.name, 0), ones.numbering(component.node_groups).size
        least = -(-count // has) if has else 0
        if least > (most[0] if most else 0):
            formula = f"ranks 0-{count - 1} of {component.name} // {with_noun(has, 'node')}, rounded up"
            most = least, formula, Figure(f"placement of {component.name}", f"0-{count - 1}", component.span("placement"))
    return Derivation("", ACCELERATORS_PER_NODE, most[0], most[1], (nodes, most[2])) if most else None
