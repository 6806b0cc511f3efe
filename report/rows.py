"""Rows of a picture: a node each, with the holders of its accelerators."""

from __future__ import annotations

from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import Iterator, Mapping, Sequence

from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR, NODE
from ..models.parallel import Parallel
from ..models.placements.plan import Plan
from ..models.ranks import merge, write_ranks
from ..models.record import dataclass

_LETTERS = ascii_uppercase + ascii_lowercase
MOST_ROWS = 64
"""Nodes with a row of their own in a picture; beyond, equal neighbours share one."""
MOST_DRAWN = 256
"""Rows of a picture; the sizes of the components always cover all nodes."""


def key(number: int) -> str:
    """Return the letter of a component: A, B ... z, A1, B1..."""
    turn, letter = divmod(number, len(_LETTERS))
    return _LETTERS[letter] + (str(turn) if turn else "")


@dataclass(frozen=True, slots=True)
class Holder:
    """Component on an accelerator: its number, its process ranks there, its tp group (-1: none)."""

    component: int
    ranks: tuple[int, ...]
    group: int


@dataclass(frozen=True, slots=True)
class HeldAccelerator:
    """Accelerator: local index, model, holders, and if another job holds it."""

    index: int
    model: str
    holders: tuple[Holder, ...]
    taken: bool

    @property
    def look(self) -> tuple[object, ...]:
        """Equal for cells that look alike."""
        return self.model, tuple(holder.component for holder in self.holders), self.taken


@dataclass(frozen=True, slots=True)
class Row:
    """Node, or `count` nodes that look alike up to `last`; `rack` is its topology.

    `besides`: (component, its processes without accelerators there).
    """

    name: str
    rack: str
    cells: tuple[HeldAccelerator, ...]
    besides: tuple[tuple[int, str], ...] = ()
    count: int = 1
    last: str = ""

    @property
    def look(self) -> tuple[object, ...]:
        """Equal for nodes that look alike."""
        return self.rack, self.besides, tuple(cell.look for cell in self.cells)

    @property
    def title(self) -> str:
        """`node-3`, or `node-3 .. node-9 (7 nodes)`."""
        return self.name if self.count == 1 else f"{self.name} .. {self.last} ({self.count} nodes)"


def rows_of(plan: Plan, names: Sequence[str], degrees: Mapping[str, Parallel]) -> list[Row]:
    """Return a row per node; beyond `MOST_ROWS` nodes, equal neighbours share one.

    `names`: components in the order of their numbers. `degrees`: component -> degrees; its tp
    groups are consecutive accelerators, in rank order.
    """
    holders: dict[int, dict[int, list[Holder]]] = {}
    besides: dict[int, list[tuple[int, str]]] = {}
    for name in plan.components:
        number, tp = names.index(name), degrees[name].tp if name in degrees else 1
        for node, index, ranks, group in _list_held(plan, name, tp):
            holders.setdefault(node, {}).setdefault(index, []).append(Holder(number, ranks, group))
        for node, text in processes_beside(plan, name):
            besides.setdefault(node, []).append((number, text))
    rows = [_row(node, holders.get(node.rank, {}), tuple(besides.get(node.rank, ()))) for node in plan.cluster.nodes]
    return rows if len(rows) <= MOST_ROWS else list(_fold(rows))


def _row(node: Node, holders: Mapping[int, list[Holder]], besides: tuple[tuple[int, str], ...]) -> Row:
    cells = [
        HeldAccelerator(device.index, device.model, tuple(holders.get(device.index, ())), bool(node.taken >> device.index & 1))
        for device in node.accelerators
    ]
    return Row(node.name, ", ".join(f"{level} {name}" for level, name in node.topology.items()), tuple(cells), besides)


def _list_held(plan: Plan, name: str, tp: int) -> Iterator[tuple[int, int, tuple[int, ...], int]]:
    """Yield (node, local index, process ranks, tp group) for the accelerators of a component."""
    ranks_on: dict[tuple[int, int], list[int]] = {}
    groups: dict[tuple[int, int], int] = {}
    position = 0
    for run in plan.assignment.of(name):
        if run.kind != ACCELERATOR:
            continue
        for rank in run.ranks:
            for index in run.list_held(rank):
                ranks_on.setdefault((run.node, index), []).append(rank)
                groups[run.node, index] = position // tp if tp > 1 else -1
                position += 1
    for (node, index), ranks in ranks_on.items():
        yield node, index, tuple(ranks), groups[node, index]


def processes_beside(plan: Plan, name: str) -> Iterator[tuple[int, str]]:
    """Yield (node, processes of a component without accelerators there)."""
    devices: dict[tuple[int, str], list[range]] = {}
    counts: dict[tuple[int, str], int] = {}
    for run in plan.assignment.of(name):
        if run.kind != ACCELERATOR:
            counts[run.node, run.kind] = counts.get((run.node, run.kind), 0) + len(run.ranks)
            devices.setdefault((run.node, run.kind), []).extend(range(i, i + 1) for rank in run.ranks for i in run.list_held(rank))
    for (node, kind), count in counts.items():
        on = "" if kind == NODE else f" on {kind} {write_ranks(merge(devices[node, kind]))}"
        yield node, f"{count} {'process' if count == 1 else 'processes'}{on}"


def _fold(rows: list[Row]) -> Iterator[Row]:
    for _, group in groupby(rows, key=lambda row: row.look):
        rows_alike = list(group)
        first = rows_alike[0]
        yield Row(first.name, first.rack, first.cells, first.besides, len(rows_alike), rows_alike[-1].name)
