"""Where a bundle may be, cell by cell: the nodes of a cell do not differ in what decides it."""

from __future__ import annotations

from ...models.component import Component
from ...models.machines.node_group import ACCELERATOR
from ..memory import peak
from .layout import Bundle, Cell, Layout
from .pools import Masks


def company(layout: Layout, bundle: Bundle) -> tuple[Component, ...]:
    """The components that are wherever a searched bundle is: its own, and those of what it lies within if that is searched too."""
    hosts = [host for host in layout.hosts[bundle] if not host.fixed]
    return (*bundle.components, *(component for host in hosts for component in host.components))


def in_reach(layout: Layout, bundle: Bundle) -> list[Cell]:
    """The cells that the groups and models of all members allow, whatever their memory."""
    members = company(layout, bundle)
    inside = [layout.problem.cluster.members(component.node_groups) for component in members]
    models = {component.accelerator_model for component in members if component.accelerator_model}
    cells = [cell for cell in layout.cells if all(cell.nodes[0].rank in its for its in inside)]
    if bundle.kind != ACCELERATOR:
        return cells
    return [cell for cell in cells if cell.nodes[0].accelerators and models <= {cell.nodes[0].accelerator_model}]


def eligible(layout: Layout, bundle: Bundle) -> list[Cell]:
    """Those whose accelerators have the memory that all members need together."""
    cells = in_reach(layout, bundle)
    if bundle.kind != ACCELERATOR:
        return cells
    need = peak(company(layout, bundle))
    return [cell for cell in cells if (memory := cell.nodes[0].accelerator_memory) is None or memory >= need]


def within_reach(layout: Layout, bundle: Bundle, free: Masks) -> Masks:
    """What is free on the nodes that the bundle may use at all."""
    nodes = {node.rank for cell in in_reach(layout, bundle) for node in cell.nodes}
    return {node: mask for node, mask in free.items() if node in nodes}
