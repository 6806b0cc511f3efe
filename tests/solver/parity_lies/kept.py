"""Lies about what is kept together: in the rule, in the grain, in the cells, in the order of ranks, in the rows for NUMA domains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from placewright.models.placements.assignment import Seat
from placewright.solver.expanding import counts as count_out
from placewright.solver.expanding import counts as taking
from placewright.solver.expanding import expand
from placewright.solver.layout import bundle as grain
from placewright.solver.layout import cells as partition
from placewright.solver.layout import ranks as rank_order
from placewright.solver.layout.bundle import Bundle
from placewright.solver.layout.layout import Layout
from placewright.solver.layout.ranks import GroupsCut
from placewright.solver.model.variables import Variables
from placewright.solver.rules import groups, no_overlap
from placewright.solver.rules.groups import GroupInNode, GroupsWhole
from placewright.solver.rules.no_overlap import NoOverlap

from .changes import Lie, instead, silent


def keeping(**changes: Any) -> Lie:
    """The face of the rule, told of another demand than was made."""

    def lie(original: Any) -> Any:
        return lambda self, problem, kept, other: original(self, problem, (kept[0], replace(kept[1], **changes)), other)

    return lie


def by_node(original: Any) -> Any:
    """Ranks that go through the nodes, whatever domains they are in."""

    def lie(layout: Layout, bundle: Bundle, held: dict[int, int]) -> list[Seat]:
        return [(node, index) for node in sorted(held) for index in range(held[node].bit_length()) if held[node] >> index & 1]

    return lie


def node_alone(original: Any) -> Any:
    """What is said of other levels than the node is forgotten."""
    return lambda problem, component, level: original(problem, component, level) if level == "node" else 1


def default_stays(original: Any) -> Any:
    """A tensor parallel group stays on one node, whatever is said of it."""
    return lambda problem, component, level: (
        original(problem, replace(component, keep=()), level) if level == "node" else original(problem, component, level)
    )


def whole_node(self: Variables, cell: Any, pool: Any, size: int, inside_numa: bool = False) -> Any:
    """NUMA domains of a node in one sum."""
    return self.layout.room(cell, pool).pieces(size)


def one_domain(node: Any, kind: str) -> tuple[int, ...]:
    """A node as one NUMA domain."""
    return (node.whole(kind),)


KEPT_LIES: dict[str, tuple[object, str, Lie, str]] = {
    "replicas pass over racks": (GroupsWhole, "check", instead(silent), "replica in a rack"),
    "replicas lie over racks": (GroupsWhole, "encode", instead(silent), "replica in a rack"),
    "replicas must be in nodes": (GroupsWhole, "check", keeping(level="node"), "replica in a rack"),
    "one rack more passes": (GroupsWhole, "check", keeping(domains=3), "component in two racks"),
    "one rack more is allowed": (GroupsWhole, "encode", keeping(domains=3), "component in two racks"),
    "nodes of a component are not counted": (GroupsWhole, "encode", instead(silent), "component in two nodes"),
    "nodes of a component need not be told apart": (
        partition,
        "list_single_cells",
        instead(lambda problem: set()),
        "component in two nodes",
    ),
    "given ones are kept whatever they are": (GroupsWhole, "encode", instead(silent), "given, kept"),
    "given parts hold whole groups": (groups, "_are_whole", instead(lambda *arguments: True), "given, replicas over racks"),
    "only part of a group is looked at": (groups, "torn", instead(lambda visits, size: {}), "tp group over nodes"),
    "a range is kept wherever it starts": (GroupsWhole, "_starts", instead(silent), "range with replicas in a rack"),
    "interleaved groups are cut nowhere": (GroupsCut, "count_cut", instead(lambda self, start, stop: 0), "strided range over racks"),
    "groups over nodes are in one": (grain, "domain_multiple", default_stays, "tp group over nodes"),
    "the default holds where it was replaced": (
        GroupInNode,
        "subjects",
        instead(lambda self, p: [c for c in p.components if c.parallel.tp > 1]),
        "tp group over nodes",
    ),
    "a grain knows the node alone": (grain, "domain_multiple", node_alone, "tp group in a NUMA domain"),
    "domains hold any part of a group": (grain, "wholes", instead(lambda problem, members: ()), "replica in a rack"),
    "ranks go through the nodes": (expand, "order_by_rank", by_node, "replica in a rack, racks of single ones take turns"),
    "ranks go through NUMA domains as they come": (rank_order, "numa_domains", instead(one_domain), "NUMA domains by turns"),
    "a group may go on in another rack": (GroupsWhole, "encode", instead(silent), "replica of three in a rack, in order"),
    "NUMA domains are one": (Variables, "slots", instead(whole_node), "tp groups in NUMA domains of odd size"),
    "pieces are no groups": (NoOverlap, "_in_numa", instead(silent), "NUMA domains in one cell"),
    "sizes in NUMA domains are always a chain": (no_overlap, "is_chain", instead(lambda sizes: True), "NUMA domains of four and of one"),
    "ranges leave NUMA domains alone": (
        Variables,
        "_count_left",
        instead(lambda self, node, mask, pool: (pool.free[node.rank] & mask).bit_count()),
        "NUMA domains beside a range",
    ),
    "what fits NUMA domains fits several nodes": (
        partition,
        "is_exact",
        instead(lambda *arguments: True),
        "NUMA domains and larger groups of whole nodes",
    ),
    "whole nodes are taken before NUMA domains": (
        count_out,
        "_order",
        instead(lambda cell, bundle: (bundle.piece,)),
        "NUMA domains of two and of one",
    ),
    "pieces are taken from anywhere": (
        taking,
        "_pieces",
        lambda f: lambda free, bundle, each, solid, domains: f(free, bundle, each, solid, (free,)),
        "tp groups in NUMA domains of odd size",
    ),
    "pieces are dealt to the first domain": (
        count_out,
        "pack_into_domains",
        instead(lambda free, sizes: [0] * len(sizes)),
        "NUMA domains, sizes that are no chain",
    ),
}
