"""Lies about where components may be, about memory and about what is dealt out to nodes; `test_lies.py` lets parity find them."""

from __future__ import annotations

from typing import Any

from placewright.solver.expanding import expand
from placewright.solver.layout import cells as partition
from placewright.solver.layout import layout as dealing
from placewright.solver.layout import ranks as rank_order
from placewright.solver.objectives.counts import FullestNodes
from placewright.solver.objectives.preferred import SplitGroups
from placewright.solver.rules import capacity, location
from placewright.solver.rules.capacity import FitsHostMemory
from placewright.solver.rules.location import Apart, Excluded, Near, Pinned, SpreadOver

from .changes import Lie, instead, silent


def each_alone(original: Any) -> Any:
    """What is needed of every set of nodes that pins name, without their unions."""
    return lambda groups: {allowed: sum(len(numbers) for numbers, its in groups if its == allowed) for _, allowed in groups}


def other_way(original: Any) -> Any:
    """A relation read from its second component to its first."""

    def lie(self: Any, problem: Any, relation: Any, other: Any) -> Any:
        return original(self, problem, type(relation)(relation.kind, relation.components[::-1], level=relation.level), other)

    return lie


def more(original: Any) -> Any:
    """One more than there is."""
    return lambda *arguments: original(*arguments) + 1


DEMAND_LIES: dict[str, tuple[object, str, Lie, str]] = {
    "excluded nodes may be used": (Excluded, "encode", instead(silent), "excluded, a range"),
    "excluded nodes pass": (Excluded, "check", instead(silent), "excluded"),
    "no nodes are told apart": (partition, "distinguished_nodes", instead(silent), "excluded"),
    "pins hold nobody": (Pinned, "encode", instead(silent), "pinned"),
    "pins pass": (Pinned, "check", instead(silent), "pinned"),
    "nodes of several pins are counted twice": (location, "needs_of", each_alone, "pinned, nodes on end"),
    "groups keep their order whatever is pinned": (
        expand, "order_pinned", instead(lambda problem, component, held: list(held)), "pinned, groups",
    ),
    "one domain is several": (SpreadOver, "encode", instead(silent), "spread over racks"),
    "one domain passes as several": (SpreadOver, "check", instead(silent), "spread over racks"),
    "shares are rounded down": (location, "_share", instead(lambda amount, percent, size: amount * percent // (100 * size)), "spread, half of it"),
    "nodes need no cells of their own": (partition, "list_single_cells", instead(lambda problem: frozenset()), "apart on nodes"),
    "near ones need no cells of their own": (partition, "list_single_cells", instead(lambda problem: frozenset()), "near on nodes"),
    "what is spread needs no cells of its own": (partition, "list_single_cells", instead(lambda problem: frozenset()), "spread over nodes"),
    "apart ones may meet": (Apart, "encode", instead(silent), "apart in racks"),
    "apart ones pass together": (Apart, "check", instead(silent), "apart in racks"),
    "near ones may be far": (Near, "encode", instead(silent), "near in racks"),
    "near ones pass far": (Near, "check", instead(silent), "near in racks"),
    "near is mutual": (Near, "encode", other_way, "near in racks"),
    "near is checked the other way": (Near, "check", other_way, "near on nodes"),
    "host memory never ends": (FitsHostMemory, "encode", instead(silent), "host memory"),
    "host memory passes": (FitsHostMemory, "check", instead(silent), "host memory"),
    "nothing is kept while another phase runs": (
        capacity, "peak", instead(lambda members, capacity: max((c.memory for c in members), default=0)), "offloaded, over the limit",
    ),
    "what is offloaded passes": (capacity, "_in_phase", instead(lambda members, phase, capacity: 0), "offloaded, given"),
    "nothing is dealt out": (dealing, "needs_searched_nodes", instead(lambda problem, component: False), "on nodes, apart from accelerators"),
    "nothing of a wish is counted": (SplitGroups, "value", instead(lambda *arguments: 0), "preferred in racks"),
    "a wish costs one more": (SplitGroups, "encode", more, "preferred in racks"),
    "a wish cannot be granted": (SplitGroups, "bound", instead(lambda *arguments: 9), "preferred, two sizes"),
    "ranks do not heed wishes": (rank_order, "_sizes", instead(lambda bundle: {}), "preferred, two sizes"),
    "processes are even whatever they are": (FullestNodes, "value", instead(lambda *arguments: 0), "on nodes, near accelerators"),
}  # fmt: skip
