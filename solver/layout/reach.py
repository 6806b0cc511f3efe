"""Where a bundle may be, cell by cell: the nodes of a cell do not differ in what decides it."""

from __future__ import annotations

from .bundle import Bundle
from .cell import Cell
from .cells.allowed_nodes import nodes_in_reach
from .layout import Layout
from .pool import Masks


def eligible(layout: Layout, bundle: Bundle) -> list[Cell]:
    """Cells whose accelerators have the memory that all members need together."""
    nodes = layout.eligible[bundle]
    return [cell for cell in layout.cells if cell.nodes[0].rank in nodes]


def within_reach(layout: Layout, bundle: Bundle, free: Masks) -> Masks:
    """What is free on the nodes that the bundle may use at all."""
    nodes = nodes_in_reach(layout, bundle)
    return {node: mask for node, mask in free.items() if node in nodes}
