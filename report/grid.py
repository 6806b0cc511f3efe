"""Grid in characters: nodes x accelerators, with their holders."""

from __future__ import annotations

from itertools import groupby
from typing import Sequence

from ..models.placements.plan import Plan
from ..models.record import dataclass
from .rows import HeldAccelerator, Row, key, rows_of
from .terminal import cells, escape

IDLE, TAKEN = ".", "#"
BLOCK = 16
_MANY_NODES = 8


@dataclass(frozen=True)
class _Row:
    """Row of a node: a text per accelerator, and processes without accelerators."""

    name: str
    cells: tuple[str, ...]
    besides: str

    @property
    def look(self) -> tuple[tuple[str, ...], str]:
        return self.cells, self.besides


def grid(plan: Plan) -> str:
    """Format a line per node and a cell per accelerator, with a legend.

    ``.`` is an idle accelerator, ``#`` one held by another job, ``Ax2`` one shared by two processes
    of A. Beyond eight nodes, equal neighbours share a line.
    """
    keys = {name: key(position) for position, name in enumerate(plan.components)}
    rows = _collapsed([_texts(row) for row in rows_of(plan, plan.components, {}, len(plan.cluster.nodes))])
    width = max((len(cell) for row in rows for cell in row.cells), default=1)
    columns = min(max((len(row.cells) for row in rows), default=0), BLOCK)
    width = max(width, len(str(columns - 1)))
    label = max(cells(row.name) for row in rows)
    lines = [" " * label + "".join(f"  {index:<{width}}" for index in range(columns))] if columns else []
    for row in rows:
        lines += _lines(row, label, width, columns)
    return "\n".join([*(line.rstrip() for line in lines), "", _legend(rows, keys)])


def _texts(row: Row) -> _Row:
    besides = "; ".join(f"{key(number)}: {text}" for number, text in row.besides)
    return _Row(escape(row.name), tuple(map(_text, row.cells)), escape(besides))


def _text(cell: HeldAccelerator) -> str:
    """Return `A`, `Ax2` for two processes, `#A` if another job holds it too, or `.`."""
    parts = [key(holder.component) + (f"x{len(holder.ranks)}" if len(holder.ranks) > 1 else "") for holder in cell.holders]
    return (TAKEN if cell.taken else "") + "".join(parts) or IDLE


def _collapsed(rows: list[_Row]) -> list[_Row]:
    """Merge equal neighbouring rows if there are many nodes."""
    if len(rows) <= _MANY_NODES:
        return rows
    result = []
    for _, group in groupby(rows, key=lambda row: row.look):
        equal = list(group)
        first, last = equal[0], equal[-1]
        name = first.name if first is last else f"{first.name} .. {last.name} ({len(equal)} nodes)"
        result.append(_Row(name, first.cells, first.besides))
    return result


def _lines(row: _Row, label: int, width: int, columns: int) -> list[str]:
    """Format a node; many accelerators continue on lines that start with the next index."""
    blocks: list[Sequence[str]] = [row.cells[start : start + BLOCK] for start in range(0, len(row.cells), BLOCK)] or [()]
    lines = []
    for number, block in enumerate(blocks):
        start = row.name + " " * (label - cells(row.name)) if not number else f"{'+' + str(number * BLOCK):>{label}}"
        padded = "".join(f"  {cell:<{width}}" for cell in block) + " " * ((width + 2) * (columns - len(block)))
        lines.append(start + padded + (f"  {row.besides}" if row.besides and not number else ""))
    return lines


def _legend(rows: Sequence[_Row], keys: dict[str, str]) -> str:
    seen = "".join(cell for row in rows for cell in row.cells)
    parts = [f"{key} {escape(name)}" for name, key in keys.items()]
    parts += [f"{mark} {meaning}" for mark, meaning in ((IDLE, "idle"), (TAKEN, "held by another job")) if mark in seen]
    return "  ".join(parts)
