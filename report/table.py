"""Plans as plain tables: the components and their sizes, or every process of one."""

from __future__ import annotations

from typing import Sequence

from ..models.assignment import Run
from ..models.node_group import ACCELERATOR, CLUSTER_LABEL
from ..models.placement import Placement
from ..models.plan import Plan
from ..models.ranks import merge, write_ranks
from .terminal import escape

MAX_CELL = 60
MAX_ROWS = 5_000


def components_table(plan: Plan) -> str:
    """One row a component: world size, nodes, accelerators, and the resource ranks inside its node groups."""
    rows = [["component", "world size", "nodes", "accelerators", "ranks"]]
    for name in plan.components:
        runs = plan.assignment.of(name)
        held = sum(mask.bit_count() for (_, kind), mask in plan.assignment.masks(name).items() if kind == ACCELERATOR)
        nodes = {run.node for run in runs}
        rows.append([name, str(plan.assignment.world_size(name)), str(len(nodes)), str(held) if held else "-", resource_ranks(plan, runs)])
    return table(rows, right=(1, 2, 3))


def placements_table(plan: Plan, component: str) -> str:
    """One row a process of a component, in rank order, at most MAX_ROWS of them."""
    rows = [[component, "node", "name", "group", "local", "holds", "sees"]]
    every = plan.placements(component)
    rows += [_row(placement) for placement in every[:MAX_ROWS]]
    left = f"\n... and {len(every) - MAX_ROWS:,} more; JSON holds them all" if len(every) > MAX_ROWS else ""
    return table(rows, right=(0, 1)) + left


def _row(placement: Placement) -> list[str]:
    local = f"{placement.local_rank}/{placement.local_world_size}"
    holds = _indices(placement.local_hardware_ranks) or "-"
    sees = ",".join(placement.visible_accelerators) or "-"
    return [str(placement.rank), str(placement.node_rank), placement.node_id, placement.node_group, local, holds, sees]


def _indices(indices: Sequence[int]) -> str:
    """Ascending neighbours as a range; any other order as it is."""
    if len(indices) > 2 and list(indices) == list(range(indices[0], indices[-1] + 1)):
        return f"{indices[0]}-{indices[-1]}"
    return ",".join(map(str, indices))


def resource_ranks(plan: Plan, runs: Sequence[Run]) -> str:
    """The resource ranks that runs hold, by node group: `0-7`, `a800 0-63`, `node 0-3`."""
    masks: dict[str, dict[int, int]] = {}
    for run in runs:
        held = masks.setdefault(run.node_group, {})
        held[run.node] = held.get(run.node, 0) | (run.mask or 1)
    texts = []
    for label, by_node in masks.items():
        first = plan.cluster.numbering((label,)).first
        ranges = [piece for node, mask in by_node.items() for piece in _ranges(mask, first.get(node, 0))]
        text = write_ranks(merge(ranges))
        texts.append(text if label == CLUSTER_LABEL else f"{label} {text}")
    return "; ".join(texts)


def _ranges(mask: int, offset: int) -> list[range]:
    """The set bits of a mask as ranges, counted from `offset`."""
    found, position = [], 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        mask >>= skip
        length = (~mask & (mask + 1)).bit_length() - 1
        found.append(range(offset + position + skip, offset + position + skip + length))
        mask >>= length
        position += skip + length
    return found


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns two spaces apart, the first row being the header; columns in `right` are right-aligned. Long cells are cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in range(len(rows[0])):
        grid.add_column(justify="right" if column in right else "left", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(_cut(escape(cell))) for cell in row))
    console = Console(width=(MAX_CELL + 2) * len(rows[0]), color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(grid)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 3] + "..."
