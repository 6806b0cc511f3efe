"""A sum that shows a single bundle impossible because of the CPUs that its processes reserve."""

from __future__ import annotations

from ..layout.layout import Bundle, Layout
from ..layout.reach import in_reach
from ..wording import listed, plural
from .row import Row


def cpu_row(layout: Layout, bundle: Bundle) -> Row | None:
    """The nodes that the bundle may use have CPUs for fewer of its units than it asks for, even if it were alone."""
    cpus = max(component.cpus * (bundle.unit // component.per_process) for component in bundle.components)
    if not cpus or bundle.fixed:
        return None
    free = layout.pool_of[bundle].free
    held = 0
    for node in (node for cell in in_reach(layout, bundle) for node in cell.nodes):
        room = free.get(node.rank, 0).bit_count() // bundle.unit
        held += room if node.cpus is None else min(room, node.cpus // cpus)
    if held >= bundle.least:
        return None
    names, need, have = listed([component.name for component in bundle.components]), bundle.least * bundle.unit, held * bundle.unit
    verb = "reserves" if len(bundle.components) == 1 else "reserve"
    each = f"{bundle.unit} {plural('accelerator', bundle.unit)}"
    sentence = f"{names} {verb} {cpus} CPUs with each {each}, and so can have {have} accelerators; {need} are needed"
    return Row(bundle.components, need, have, sentence)
