"""Plans as plain tables: the components and their sizes, or every process of one."""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest
from typing import Sequence

from ..models.machines.node_group import CLUSTER_LABEL
from ..models.placements.placement import Placement
from ..models.placements.plan import Plan
from ..models.placements.run import Run, repeats_of
from ..models.ranks import merge, write_ranks
from ..solver.layout.parts import bits
from .terminal import cells, escape
from .wrapping import COLUMNS, fit_columns

MAX_CELL = 60
MAX_ROWS = 5_000


def components_table(plan: Plan) -> str:
    """Format a row per component: world size, nodes, accelerators, resource ranks in its node groups."""
    rows = [["component", "world size", "nodes", "accelerators", "ranks"], *(component_row(plan, name) for name in plan.components)]
    return table(rows, right=(1, 2, 3))


def component_row(plan: Plan, name: str) -> list[str]:
    """Return the cells of a component in `components_table`."""
    assignment = plan.assignment
    nodes = sum(map(len, assignment.node_ranges(name)))
    ranks = resource_ranks(plan, assignment.of(name))
    return [name, str(assignment.world_size(name)), str(nodes), str(assignment.count_held(name) or "-"), ranks]


def objective_rows(plan: Plan) -> list[list[str]]:
    """Return name, value and bound of each term of the objective."""
    return [[term.name, str(term.value), str(term.bound)] for term in plan.terms]


def placements_table(plan: Plan, component: str) -> str:
    """Format a row per process of a component, in rank order, at most MAX_ROWS."""
    rows = [[component, "node", "name", "group", "local", "holds", "sees"]]
    every = plan.placements(component)
    rows += [_row(placement) for placement in every[:MAX_ROWS]]
    more = f"\n... and {len(every) - MAX_ROWS:,} more; JSON holds them all" if len(every) > MAX_ROWS else ""
    return table(rows, right=(0, 1)) + more


def _row(placement: Placement) -> list[str]:
    local = f"{placement.local_rank}/{placement.local_world_size}"
    holds = _indices(placement.local_hardware_ranks) or "-"
    sees = ",".join(placement.visible_accelerators) or "-"
    return [str(placement.rank), str(placement.node_rank), placement.node_id, placement.node_group, local, holds, sees]


def _indices(indices: Sequence[int]) -> str:
    """Format ascending neighbours as a range, any other order as a list."""
    if len(indices) > 2 and list(indices) == list(range(indices[0], indices[-1] + 1)):
        return f"{indices[0]}-{indices[-1]}"
    return ",".join(map(str, indices))


def resource_ranks(plan: Plan, runs: Sequence[Run]) -> str:
    """Format the resource ranks of runs by node group: `0-7`, `a800 0-63`, `node 0-3`."""
    by_group: dict[str, list[range]] = {}
    for repeat in repeats_of(runs):
        for run in repeat.runs:
            numbering, ranges = plan.cluster.numbering((run.node_group,)), by_group.setdefault(run.node_group, [])
            for stretch, start in numbering.wide_on(repeat.node_ranks):
                mask = run.mask or 1
                if mask == (1 << stretch.count) - 1:
                    ranges.append(range(start, start + stretch.size))
                else:
                    firsts = range(start, start + stretch.size, stretch.count)
                    ranges += [range(first + piece.start, first + piece.stop) for first in firsts for piece in _pieces(mask)]
    texts = []
    for label, ranges in by_group.items():
        text = write_ranks(merge(ranges))
        texts.append(text if label == CLUSTER_LABEL else f"{label} {text}")
    return "; ".join(texts)


@lru_cache(maxsize=64)
def _pieces(mask: int) -> tuple[range, ...]:
    """Return the set bits as ranges."""
    return merge([range(index, index + 1) for index in bits(mask)])


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), uncut: bool = False) -> str:
    """Format columns two spaces apart; the first row is the header.

    Columns in `right` are right-aligned. Long cells are cut, but with `uncut` not the last of a row.
    What is too wide for COLUMNS is broken within its column, in the widest columns first; if words are
    too wide for that, a row is a line of its named cells.
    """
    cells_of_rows = [[_cut(escape(cell)) for cell in row[:-1]] + [escape(row[-1]) if uncut else _cut(escape(row[-1]))] for row in rows]
    widths_left = _narrow(cells_of_rows, COLUMNS.get())
    if not widths_left:
        return "\n".join(fit_columns(_sentence(cells_of_rows[0], row), COLUMNS.get()) for row in cells_of_rows[1:])
    broken = [list(map(_broken, row, widths_left)) for row in cells_of_rows]
    widths = [max(cells(part) for parts in column for part in parts) for column in zip(*broken)]
    lines = []
    for row in broken:
        for parts in zip_longest(*row, fillvalue=""):
            blanks = [" " * (width - cells(part)) for part, width in zip(parts, widths)]
            texts = [blank + part if column in right else part + blank for column, (part, blank) in enumerate(zip(parts, blanks))]
            lines.append("  ".join(texts).rstrip())
    return "\n".join(lines)


def _narrow(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return widths of columns that fit with whole words; empty if there are none."""
    widths = [max(map(cells, column)) for column in zip(*rows)]
    if sum(widths) + 2 * (len(widths) - 1) <= room:
        return widths
    longest = [max((cells(word) for cell in column for word in cell.split(" ")), default=0) for column in zip(*rows)]
    while sum(widths) + 2 * (len(widths) - 1) > room:
        excess, column = max((width if width > word else 0, column) for column, (width, word) in enumerate(zip(widths, longest)))
        if not excess:
            return []
        widths[column] -= 1
    return widths


def _sentence(heads: Sequence[str], row: Sequence[str]) -> str:
    """Format a row as `first: head cell, head cell`, without empty cells."""
    return f"{row[0]}: " + ", ".join(f"{head} {cell}".strip() for head, cell in zip(heads[1:], row[1:]) if cell.strip("-"))


def _broken(text: str, width: int) -> list[str]:
    """Break a text into lines of a width."""
    if cells(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) > width:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 3] + "..."
