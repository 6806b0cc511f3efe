"""Plans as plain tables: the components and their sizes, or every process of one."""

from __future__ import annotations

from typing import Sequence

from ..models.machines.node_group import CLUSTER_LABEL, Stretch
from ..models.placements.placement import Placement
from ..models.placements.plan import Plan
from ..models.placements.run import Run, repeats_of
from ..models.ranks import merge, write_ranks
from .terminal import cells, escape

MAX_CELL = 60
MAX_ROWS = 5_000
MIN_BROKEN = 20
"""A cell that goes on below itself has at least so many columns."""


def components_table(plan: Plan) -> str:
    """One row a component: world size, nodes, accelerators, and the resource ranks inside its node groups."""
    rows = [["component", "world size", "nodes", "accelerators", "ranks"]]
    for name in plan.components:
        held = plan.assignment.held(name)
        nodes = sum(map(len, plan.assignment.node_ranges(name)))
        ranks = resource_ranks(plan, plan.assignment.of(name))
        rows.append([name, str(plan.assignment.world_size(name)), str(nodes), str(held) if held else "-", ranks])
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
    """Format the resource ranks of runs by node group: `0-7`, `a800 0-63`, `node 0-3`."""
    held: dict[str, list[range]] = {}
    for repeat in repeats_of(runs):
        for run in repeat.runs:
            numbering, found = plan.cluster.numbering((run.node_group,)), held.setdefault(run.node_group, [])
            for stretch, start in numbering.wide_on(repeat.node_ranks):
                found += _ranges_of(run.mask or 1, stretch, start)
    texts = []
    for label, ranges in held.items():
        text = write_ranks(merge(ranges))
        texts.append(text if label == CLUSTER_LABEL else f"{label} {text}")
    return "; ".join(texts)


def _ranges_of(mask: int, stretch: Stretch, start: int) -> list[range]:
    """Return the resource ranks of a mask repeated on a stretch of nodes."""
    if mask == (1 << stretch.count) - 1:
        return [range(start, start + stretch.size)]
    return [piece for offset in range(stretch.nodes) for piece in _ranges(mask, start + offset * stretch.count)]


def _ranges(mask: int, offset: int) -> list[range]:
    """Return the set bits as ranges, counted from `offset`."""
    found, position = [], 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        mask >>= skip
        length = (~mask & (mask + 1)).bit_length() - 1
        found.append(range(offset + position + skip, offset + position + skip + length))
        mask >>= length
        position += skip + length
    return found


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), width: int = 0) -> str:
    """Format columns two spaces apart; the first row is the header.

    Columns in `right` are right-aligned. Long cells are cut. `width` : columns of a line; the last
    cell of a row then wraps instead.
    """
    shown = [[_cut(escape(cell)) for cell in row[:-1]] + [escape(row[-1]) if width else _cut(escape(row[-1]))] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown)]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for row in shown:
        blanks = [" " * (width - cells(cell)) for cell, width in zip(row, widths)]
        padded = [blank + cell if column in right else cell + blank for column, (cell, blank) in enumerate(zip(row, blanks))]
        if width and before + cells(row[-1]) > width:
            first, *more = _broken(row[-1], max(width - before, MIN_BROKEN))
            lines += ["  ".join([*padded[:-1], first]).rstrip(), *(" " * before + line for line in more)]
        else:
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _broken(text: str, width: int) -> list[str]:
    """Break a text into lines of a width; longer words stay whole."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) > width:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 3] + "..."
