"""Grid in characters: nodes x accelerators, with their holders."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import NamedTuple, Sequence

from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.plan import Plan
from .rows import key, processes_beside
from .terminal import cells, escape
from .wrapping import COLUMNS

IDLE, OCCUPIED = ".", "#"
BLOCK = 16
_MANY_LINES = 8


class _Row(NamedTuple):
    """Row of a node: a text per accelerator, and processes without accelerators."""

    name: str
    cells: tuple[str, ...]
    besides: str


def grid(plan: Plan) -> str:
    """Format a line per node and a cell per accelerator, with a legend.

    ``.`` is an idle accelerator, ``#`` one held by another job, ``Ax2`` one shared by two processes
    of A. Beyond eight lines, equal neighbours share theirs.
    """
    keys = {name: key(position) for position, name in enumerate(plan.components)}
    rows = _collapse(_rows(plan, keys))
    width = max((len(cell) for row in rows for cell in row.cells), default=1)
    columns = min(max((len(row.cells) for row in rows), default=0), BLOCK)
    width = max(width, len(str(columns - 1)))
    label = max(cells(row.name) for row in rows)
    fitting = max((COLUMNS.get() - label) // (width + 2), 1)
    columns = next(block for block in (columns, 8, 4, 2, 1) if block <= fitting)
    lines = [" " * label + "".join(f"  {index:<{width}}" for index in range(columns))] if columns else []
    for row in rows:
        lines += _lines(row, label, width, columns)
    return "\n".join([*(line.rstrip() for line in lines), "", _legend(rows, keys)])


def _rows(plan: Plan, keys: dict[str, str]) -> list[_Row]:
    """Return a row per node, as texts: the objects of `rows_of` are too many for a million accelerators."""
    holders: list[dict[str, Counter[int]]] = [{} for _ in plan.cluster.nodes]
    besides: list[list[str]] = [[] for _ in plan.cluster.nodes]
    for name in plan.components:
        for run in plan.assignment.of(name):
            if run.kind == ACCELERATOR:
                counts = holders[run.node].setdefault(keys[name], Counter())
                for rank in run.ranks:
                    counts.update(run.list_held(rank))
        for node, text in processes_beside(plan, name):
            besides[node].append(f"{keys[name]}: {text}")
    return [_row(node, holders[node.rank], besides[node.rank]) for node in plan.cluster.nodes]


def _row(node: Node, holders: dict[str, Counter[int]], besides: list[str]) -> _Row:
    texts = []
    for index in range(len(node.accelerators)):
        parts = [key + (f"x{counts[index]}" if counts[index] > 1 else "") for key, counts in holders.items() if counts[index]]
        mark = OCCUPIED if node.taken >> index & 1 else ""
        texts.append(mark + "".join(parts) or IDLE)
    return _Row(escape(node.name), tuple(texts), escape("; ".join(besides)))


def _collapse(rows: list[_Row]) -> list[_Row]:
    """Merge equal neighbouring rows if they need many lines."""
    if sum(max(1, -(-len(row.cells) // BLOCK)) for row in rows) <= _MANY_LINES:
        return rows
    result = []
    for _, group in groupby(rows, key=lambda row: row[1:]):
        equal = list(group)
        first, last = equal[0], equal[-1]
        count = f" ({len(equal)} nodes)" if len(first.cells) < BLOCK else ""  # wide rows leave no place for it
        name = first.name if first is last else f"{first.name} .. {last.name}{count}"
        result.append(_Row(name, first.cells, first.besides))
    return result


def _lines(row: _Row, label: int, width: int, columns: int) -> list[str]:
    """Format a node; many accelerators continue on lines that start with the next index."""
    step = max(columns, 1)
    blocks: list[Sequence[str]] = [row.cells[start : start + step] for start in range(0, len(row.cells), step)] or [()]
    lines = []
    for number, block in enumerate(blocks):
        start = row.name + " " * (label - cells(row.name)) if not number else f"{'+' + str(number * step):>{label}}"
        content = "".join(f"  {cell:<{width}}" for cell in block) + " " * ((width + 2) * (columns - len(block)))
        lines.append(start + content + (f"  {row.besides}" if row.besides and not number else ""))
    return lines


def _legend(rows: Sequence[_Row], keys: dict[str, str]) -> str:
    seen = "".join(cell for row in rows for cell in row.cells)
    parts = [f"{key} {escape(name)}" for name, key in keys.items()]
    parts += [f"{mark} {meaning}" for mark, meaning in ((IDLE, "idle"), (OCCUPIED, "held by another job")) if mark in seen]
    return "  ".join(parts)
