"""Why something is impossible, as one sum that a person can check: so much is needed, so much is there."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Iterable, Mapping

from ..models.component import Component
from ..models.node_group import ACCELERATOR
from ..models.problem import Problem
from .layout import Bundle, Layout
from .places import longest_free
from .rules.fits_memory import peak
from .wording import listed, plural


@dataclass(frozen=True)
class Row:
    """These components need `need` of something of which there are `have`; the sentence says of what."""

    components: tuple[Component, ...]
    need: int
    have: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def counting_row(problem: Problem) -> Row | None:
    """A sum that proves the problem impossible, or None if no such sum does.

    For every size of piece: what each bundle needs flows to the nodes that it may use. What cannot flow is short, and the
    minimal cut names the bundles and the nodes (Hall's condition).
    """
    layout = Layout(problem)
    for bundle in layout.bundles:
        if row := _own_amount(layout, bundle):
            return row
    for bundle in layout.ranged:
        if row := _own_range(layout, bundle):
            return row
    for kind in dict.fromkeys(bundle.kind for bundle in layout.searched):
        may = {bundle: _eligible(layout, bundle) for bundle in layout.searched if bundle.kind == kind}
        for size in sorted({bundle.unit for bundle in may} | {1}):
            # Only pieces that this size divides can be counted in it.
            needs = {bundle: bundle.unit // size * bundle.least for bundle in may if bundle.unit % size == 0}
            if row := _shortage(layout, kind, size, needs, may):
                return row
    return None


def _own_amount(layout: Layout, bundle: Bundle) -> Row | None:
    """No amount satisfies all members of the bundle, whatever the cluster is."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed:
        held = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        if not least <= held <= most:
            asked = f"at least {least}" if held < least else f"at most {most}"
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {asked} are asked for"
            return Row(members, least if held < least else held, held if held < least else most, sentence)
    elif least > most:
        return Row(members, least, most, f"{shared}together at least {least}, at most {most}")
    elif -(-least // step) * step > most:
        amounts = str(least) if least == most else f"{least} to {most}"
        return Row(members, -(-least // step) * step, most, f"{shared}{amounts} holds no multiple of {step}")
    return None


def _own_range(layout: Layout, bundle: Bundle) -> Row | None:
    """No free range is long enough, even if the bundle were alone."""
    longest = longest_free(layout, bundle)
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "need"
    return Row(bundle.components, need, have, f"{names} {verb} one free range of {need} accelerators{pieces}, the longest has {have}")


def _eligible(layout: Layout, bundle: Bundle) -> frozenset[int]:
    """The ranks of the nodes that every member of the bundle may use."""
    problem, need = layout.problem, peak(bundle.components)
    ranks = set(range(len(problem.cluster.nodes)))
    for component in bundle.components:
        ranks &= problem.cluster.members(component.node_groups)
    models = {component.accelerator_model for component in bundle.components if component.accelerator_model}
    if bundle.kind != ACCELERATOR:
        return frozenset(ranks)
    nodes = (problem.cluster.nodes[rank] for rank in ranks)
    return frozenset(
        node.rank
        for node in nodes
        if (node.accelerator_memory is None or node.accelerator_memory >= need) and models <= {node.accelerator_model}
    )


def _shortage(layout: Layout, kind: str, size: int, needs: Mapping[Bundle, int], may: Mapping[Bundle, frozenset[int]]) -> Row | None:
    room = {node.rank: layout.free[node.rank, kind].bit_count() // size for node in layout.problem.cluster.nodes}

    def short(bundles: Iterable[Bundle]) -> int:
        chosen = tuple(bundles)
        nodes = frozenset().union(*(may[bundle] for bundle in chosen))
        return sum(needs[bundle] for bundle in chosen) - sum(room[node] for node in nodes)

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
    components = tuple(component for bundle in members for component in bundle.components)
    nodes = frozenset().union(*(may[bundle] for bundle in members))
    have = need - short(members)
    return Row(components, need, have, _sentence(layout, components, kind, size, need, have, len(nodes)))


def _cut(needs: Mapping[Bundle, int], may: Mapping[Bundle, frozenset[int]], room: Mapping[int, int]) -> list[Bundle]:
    """The bundles that together need more than the nodes that any of them may use have; none if everything can flow."""
    import networkx

    alike: dict[frozenset[Bundle], int] = {}
    for node, pieces in room.items():
        users = frozenset(bundle for bundle in needs if node in may[bundle])
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


def _sentence(layout: Layout, members: tuple[Component, ...], kind: str, size: int, need: int, have: int, nodes: int) -> str:
    what = "accelerator" if kind == ACCELERATOR else kind
    unit = plural(what, need) if size == 1 else f"whole groups of {size} {plural(what, size)}"
    verb = "needs" if len(members) == 1 else "need"
    place = "the cluster" if nodes == len(layout.problem.cluster.nodes) else f"the {nodes} {plural('node', nodes)} that may be used"
    own = "has" if place == "the cluster" or nodes == 1 else "have"
    return f"{listed([component.name for component in members])} {verb} {need} {unit}, {place} {own} {have}"
