"""Why something is impossible, as one sum that a person can check: so much is needed, so much is there."""

from __future__ import annotations

from typing import Iterable, Mapping

from ...models.component import Component
from ...models.machines.node_group import ACCELERATOR
from ...models.problem import Problem
from ..layout.layout import Bundle, Cell, Layout
from ..layout.pools import Pool
from ..layout.reach import eligible
from ..wording import listed, plural
from .cpu_row import cpu_row
from .own_rows import amount_row, memory_row, node_row, range_row
from .relation_rows import relation_row
from .row import Row


def counting_row(problem: Problem) -> Row | None:
    """A sum that proves the problem impossible, or None if no such sum does.

    For every size of piece: what each bundle needs flows to the nodes that it may use. What cannot flow is short, and the
    minimal cut names the bundles and the nodes (Hall's condition).
    """
    layout = Layout(problem)
    for bundle in layout.bundles:
        if row := amount_row(layout, bundle):
            return row
    for bundle in layout.bundles:
        if row := memory_row(layout, bundle):
            return row
    for bundle in layout.ranged:
        if row := range_row(layout, bundle):
            return row
    for name in layout.on_nodes:
        if row := node_row(layout, problem[name]):
            return row
    if row := relation_row(layout):
        return row
    for pool in layout.pools:
        may = {bundle: frozenset(eligible(layout, bundle)) for bundle in pool.bundles}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            # Only pieces that this size divides can be counted in it.
            needs = {bundle: bundle.unit // size * bundle.least for bundle in may if bundle.unit % size == 0}
            if row := _shortage(layout, pool, size, needs, may):
                return row
    return next(filter(None, (cpu_row(layout, bundle) for bundle in layout.searched)), None)


def _shortage(layout: Layout, pool: Pool, size: int, needs: Mapping[Bundle, int], may: Mapping[Bundle, frozenset[Cell]]) -> Row | None:
    room = {cell: layout.capacity(cell, pool, size) for cell in layout.cells}

    def short(bundles: Iterable[Bundle]) -> int:
        chosen = tuple(bundles)
        cells = frozenset[Cell]().union(*(may[bundle] for bundle in chosen))
        return sum(needs[bundle] for bundle in chosen) - sum(room[cell] for cell in cells)

    # Most often one bundle alone is too large, or all together are: then no flow is needed to see it.
    members = next(([bundle] for bundle in needs if short([bundle]) > 0), [])
    if not members:
        members = _cut(needs, may, room)
    for bundle in list(members):
        rest = [other for other in members if other is not bundle]
        if rest and short(rest) > 0:
            members = rest
    if not members:
        return None
    need = sum(needs[bundle] for bundle in members)
    have = need - short(members)
    components = tuple(component for bundle in members for component in bundle.components)
    nodes = sum(len(cell.nodes) for cell in frozenset[Cell]().union(*(may[bundle] for bundle in members)))
    return Row(components, need, have, _sentence(layout, pool, components, size, (need, have), nodes))


def _cut(needs: Mapping[Bundle, int], may: Mapping[Bundle, frozenset[Cell]], room: Mapping[Cell, int]) -> list[Bundle]:
    """The bundles that together need more than the nodes that any of them may use have; none if everything can flow."""
    import networkx

    alike: dict[frozenset[Bundle], int] = {}
    for cell, pieces in room.items():
        users = frozenset(bundle for bundle in needs if cell in may[bundle])
        alike[users] = alike.get(users, 0) + pieces
    graph = networkx.DiGraph()
    graph.add_nodes_from(("need", "have"))
    for bundle, need in needs.items():
        graph.add_edge("need", bundle, capacity=need)
    for users, pieces in alike.items():
        graph.add_edge(users, "have", capacity=pieces)
        for bundle in users:
            graph.add_edge(bundle, users)
    flow, (reached, _) = networkx.minimum_cut(graph, "need", "have")
    return [bundle for bundle in needs if bundle in reached] if flow < sum(needs.values()) else []


def _sentence(layout: Layout, pool: Pool, members: tuple[Component, ...], size: int, sums: tuple[int, int], nodes: int) -> str:
    need, have = sums
    what = "accelerator" if pool.kind == ACCELERATOR else pool.kind
    unit = plural(what, need) if size == 1 else f"whole {plural('group', need)} of {size} {plural(what, size)}"
    verb = "needs" if len(members) == 1 else "need"
    place = "the cluster" if nodes == len(layout.problem.cluster.nodes) else f"the {nodes} {plural('node', nodes)} that may be used"
    own = "has" if place == "the cluster" or nodes == 1 else "have"
    if pool.hosts and pool.host is None:
        shared = " in common" if len(pool.hosts) > 1 else ""
        place, own = listed([host.name for host in pool.hosts]), "has" if len(pool.hosts) == 1 else "have"
        return f"{listed([c.name for c in members])} {verb} {need} {unit} of {place}, which {own} {have}{shared} that may be used"
    free = (
        " free" if any(layout.problem.given().held(component.name, pool.kind) for component in layout.problem.explicit.components) else ""
    )
    return f"{listed([component.name for component in members])} {verb} {need} {unit}, {place} {own} {have}{free}"
