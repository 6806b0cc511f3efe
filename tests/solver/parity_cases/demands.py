"""Small problems about where components may be: excluded nodes, pinned ranks, failure domains, what is apart and what is near."""

from __future__ import annotations

from placewright.models.component import Keep, Pin, Spread
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem
from ..clusters import FIVE, ROBOTS, TWO

RACKS = cluster({"count": 2, "rack": "a"}, {"count": 1, "rack": "a"}, {"count": 2, "rack": "b"})
"""Two racks, the first of two nodes."""
ALIKE = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "a"}, {"count": 1, "rack": "b"})
"""Two nodes that nothing tells apart, and one in another rack."""
ROWS = cluster({"count": 1}, {"count": 1}, {"count": 1})


def pins(*each: tuple[str, tuple[int, ...]]) -> tuple[Pin, ...]:
    """Pins of ranks such as ``0-1`` to nodes."""
    ends = [(text.split("-")[0], text.split("-")[-1], nodes) for text, nodes in each]
    return tuple(Pin(range(int(first), int(last) + 1), nodes) for first, last, nodes in ends)


def wish(what: str, level: str, domains: int = 1) -> Keep:
    """Something that is better kept together."""
    return Keep(what, level, domains, required=False)


DEMAND_CASES: dict[str, Problem] = {
    "excluded": problem(ALIKE, component("a", 2, excluded=(0,)), component("b", 1)),
    "excluded, colocated": problem(ALIKE, component("a", 2, excluded=(0,)), component("b", 2, 3, excluded=(2,)), together="a+b"),
    "excluded, a range": problem(ALIKE, component("a", 2, 4, contiguous=True, excluded=(1,)), component("b", 1)),
    "excluded, colocated with given": problem(
        ALIKE, given("a", Run(range(2), 0)), component("b", 2, excluded=(0,)), component("c", 1), together="b+a"
    ),
    "excluded, given": problem(ALIKE, given("a", Run(range(2), 0), excluded=(0,)), component("b", 1)),
    "excluded, on nodes": problem(ROBOTS, component("agent", 2, node_groups=("node",), excluded=(0,)), component("a", 1)),
    "pinned": problem(ALIKE, component("a", 2, 3, pins=pins(("1", (1,)))), component("b", 1)),
    "pinned, groups": problem(ALIKE, component("a", 4, tp=2, pins=pins(("2-3", (0,))))),
    "pinned, one of two nodes": problem(ROWS, component("a", 2, 3, pins=pins(("0", (1, 2)), ("1", (2,))))),
    "pinned, nodes that overlap": problem(ROWS, component("a", 3, pins=pins(("0", (0, 1)), ("1", (1, 2)), ("2", (0, 1))))),
    "pinned, nodes on end": problem(
        cluster({"count": 1}, {"count": 1}, {"count": 1}, {"count": 2}), component("a", 3, pins=pins(("0", (0, 1)), ("1", (1, 2))))
    ),
    "pinned twice": problem(ROWS, component("a", 2, pins=pins(("0-1", (0, 1)), ("1", (1, 2))))),
    "pinned against each other": problem(ROWS, component("a", 2, pins=pins(("0-1", (0,)), ("1", (1,))))),
    "pinned, more than there are": problem(ROWS, component("a", 1, 2, pins=pins(("2", (0, 1, 2))))),
    "pinned, ranks that need not be": problem(ROWS, component("a", 1, 3, pins=pins(("2", (0, 1, 2))))),
    "pinned, processes of several accelerators": problem(FIVE, component("a", 4, per_process=2, pins=pins(("0", (1,))))),
    "pinned, a range": problem(TWO, component("a", 2, 3, contiguous=True, pins=pins(("1", (1,)))), component("b", 1)),
    "pinned, a range in any order": problem(ALIKE, component("a", 3, contiguous=True, any_order=True, pins=pins(("0", (1,))))),
    "pinned, a range with a stride": problem(
        cluster({"count": 2}, {"count": 2}), component("a", 4, contiguous=True, stride=2, tp=1, pins=pins(("1", (0,))))
    ),
    "pinned, nodes in order": problem(ROWS, component("a", 2, 3, pins=pins(("1", (1,)))), in_order=True),
    "pinned, nodes in order, not between": problem(
        ROWS, component("a", 2, pins=pins(("0-1", (0, 2)))), component("b", 1), in_order=True
    ),
    "pinned, colocated": problem(
        ALIKE, component("a", 2, pins=pins(("0", (1,)))), component("b", 2, pins=pins(("0", (0,)))), together="a+b"
    ),
    "pinned, rank aligned": problem(
        ALIKE, component("a", 2, pins=pins(("0", (1,)))), component("b", 2, pins=pins(("1", (0, 1)))), aligned="a+b"
    ),
    "pinned, rank aligned, against each other": problem(
        ALIKE, component("a", 2, pins=pins(("0", (1,)))), component("b", 2, pins=pins(("0", (0,)))), aligned="a+b"
    ),
    "pinned, colocated with given": problem(
        ALIKE, given("a", Run(range(1), 0), Run(range(1, 2), 1)), component("b", 2, pins=pins(("0", (1,)))), together="b+a"
    ),
    "pinned, rank aligned with given": problem(
        ALIKE, given("a", Run(range(1), 0), Run(range(1, 2), 1)), component("b", 2, pins=pins(("0", (1,)))), aligned="b+a"
    ),
    "pinned, given": problem(TWO, given("a", Run(range(2), 0), pins=pins(("1", (1,)))), component("b", 1)),
    "spread over racks": problem(RACKS, component("a", 2, 3, spread=(Spread("rack", 2),)), component("b", 1)),
    "spread, half of it": problem(RACKS, component("a", 1, 4, spread=(Spread("rack", 1, 50),))),
    "spread, a third of groups": problem(
        cluster({"count": 4, "rack": "a"}, {"count": 2, "rack": "b"}), component("a", 2, 6, tp=2, spread=(Spread("rack", 1, 34),))
    ),
    "spread over nodes": problem(ALIKE, component("a", 2, 3, spread=(Spread("node", 2, 60),)), component("b", 1)),
    "spread over nodes of a group": problem(
        cluster({"count": 2}, {"count": 2}, {"count": 2}, {"count": 2}, g=(0, 1)),
        component("a", 2, node_groups=("g",), spread=(Spread("node", 2),)),
        component("b", 1),
    ),
    "spread, a range": problem(RACKS, component("a", 2, 3, contiguous=True, spread=(Spread("rack", 2),)), component("b", 1)),
    "spread, colocated": problem(RACKS, component("a", 2, spread=(Spread("rack", 2),)), component("b", 2), together="b+a"),
    "spread, given": problem(RACKS, given("a", Run(range(2), 0), spread=(Spread("rack", 1, 50),)), component("b", 1)),
    "spread over two levels": problem(RACKS, component("a", 3, spread=(Spread("rack", 2), Spread("node", 3)))),
    "apart in racks": problem(RACKS, component("a", 2), component("b", 1, 2), away="a+b@rack"),
    "apart on nodes": problem(ALIKE, component("a", 1, 2), component("b", 1, 2), away="a+b@node"),
    "apart on nodes, of a group": problem(
        cluster({"count": 1}, {"count": 2}, {"count": 2}, g=(1, 2)), component("a", 2, node_groups=("g",)), component("b", 1), away="b+a@node"
    ),
    "apart from given": problem(ALIKE, given("a", Run(range(1), 0)), component("b", 1, 3), away="a+b@node"),
    "apart, given both": problem(ALIKE, given("a", Run(range(1), 0)), given("b", Run(range(1), 1)), component("c", 1), away="a+b@node"),
    "apart, given both in one rack": problem(
        ALIKE, given("a", Run(range(1), 0)), given("b", Run(range(1), 1)), component("c", 1), away="a+b@rack"
    ),
    "apart, a range": problem(ALIKE, component("a", 2, 3, contiguous=True), component("b", 1), away="a+b@node"),
    "apart, colocated": problem(ALIKE, component("a", 2), component("b", 2), component("c", 1), together="a+b", away="b+c@node"),
    "apart from what it is colocated with": problem(TWO, component("a", 1), component("b", 1), together="a+b", away="a+b@node"),
    "apart from robots": problem(
        ROBOTS, component("env", 1, 2, node_groups=("robots",)), component("a", 1, 2), away="a+env@node"
    ),
    "near in racks": problem(RACKS, component("a", 1, 2), component("b", 1, 2), near="a+b@rack"),
    "near on nodes": problem(ALIKE, component("a", 1, 2), component("b", 1, 2), near="a+b@node"),
    "near given": problem(ALIKE, given("a", Run(range(1), 1)), component("b", 1, 2), near="b+a@node"),
    "given near searched": problem(ALIKE, given("a", Run(range(1), 0), Run(range(1, 2), 1)), component("b", 1, 2), near="a+b@node"),
    "near, given both": problem(ALIKE, given("a", Run(range(1), 1)), given("b", Run(range(1), 0)), component("c", 1), near="b+a@node"),
    "near, a range": problem(ALIKE, component("a", 2, 3, contiguous=True), component("b", 1, 2), near="b+a@node"),
    "near robots": problem(ROBOTS, component("env", 1, 2, node_groups=("robots",)), component("a", 1, 2), near="a+env@node"),
    "on nodes, apart from accelerators": problem(
        ALIKE, component("agent", 2, node_groups=("node",)), component("a", 2, 3), away="agent+a@node"
    ),
    "on nodes, apart in racks": problem(RACKS, component("agent", 2, node_groups=("node",)), component("a", 2, 3), away="a+agent@rack"),
    "on nodes, near accelerators": problem(ALIKE, component("agent", 2, node_groups=("node",)), component("a", 1, 2), near="agent+a@node"),
    "on nodes, accelerators near them": problem(
        RACKS, component("agent", 1, node_groups=("node",)), component("a", 1, 2), near="a+agent@rack"
    ),
    "on nodes, near robots": problem(
        ROBOTS, component("agent", 2, node_groups=("node",)), component("env", 1, node_groups=("robots",)), near="agent+env@node"
    ),
    "on nodes, apart from given": problem(
        ALIKE, component("agent", 2, node_groups=("node",)), given("a", Run(range(1), 0)), component("b", 1), away="agent+a@node"
    ),
    "on nodes, two apart": problem(
        ALIKE, component("agent", 2, node_groups=("node",)), component("tool", 1, node_groups=("node",)), component("a", 1), away="agent+tool@node"
    ),
    "on nodes, pinned": problem(ALIKE, component("agent", 3, node_groups=("node",), pins=pins(("1", (0,)), ("0", (1, 2)))), component("a", 1)),
    "on nodes, pinned in order": problem(
        ALIKE, component("agent", 3, node_groups=("node",), pins=pins(("1", (1,)))), component("a", 1), in_order=True
    ),
    "on nodes, spread": problem(RACKS, component("agent", 3, node_groups=("node",), spread=(Spread("rack", 2, 50),)), component("a", 1)),
    "on nodes, spread over nodes": problem(
        ALIKE, component("agent", 3, node_groups=("node",), excluded=(2,), spread=(Spread("node", 2, 60),)), component("a", 1)
    ),
    "on nodes, excluded all": problem(ROBOTS, component("agent", 2, node_groups=("node",), excluded=(0, 1)), component("a", 1)),
    "on nodes, unequal CPUs": problem(
        cluster({"count": 1, "cpus": 1}, {"count": 1, "cpus": 4}), component("agent", 3, node_groups=("node",), cpus=1), component("a", 1, 2, cpus=1)
    ),
    "on nodes, CPUs beside accelerators": problem(
        cluster({"count": 2, "cpus": 3}, {"count": 2, "cpus": 3}), component("agent", 2, node_groups=("node",), cpus=2), component("a", 1, 4, cpus=1)
    ),
    "on nodes, host memory": problem(
        cluster({"count": 1, "memory": 3}, {"count": 1, "memory": 3}), component("agent", 2, node_groups=("node",), host_memory=2),
        component("a", 1, 2, host_memory=2),
    ),
    "preferred in racks": problem(
        cluster({"count": 3, "rack": "a"}, {"count": 3, "rack": "b"}), component("a", 4, pp=2, keep=(wish("replica", "rack"),)), component("b", 1)
    ),
    "preferred in racks, a range of amounts": problem(
        RACKS, component("a", 2, 5, pp=2, keep=(wish("replica", "rack"),)), component("b", 1)
    ),
    "preferred in nodes": problem(ALIKE, component("a", 2, 4, pp=2, keep=(wish("replica", "node"),)), component("b", 1)),
    "preferred tp groups in racks": problem(RACKS, component("a", 2, 4, tp=2, keep=(wish("tp", "rack"),)), component("b", 1)),
    "preferred, a range": problem(
        cluster({"count": 3, "rack": "a"}, {"count": 3, "rack": "b"}), component("a", 4, pp=2, contiguous=True, keep=(wish("replica", "rack"),))
    ),
    "preferred, the whole component": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 1, "rack": "b"}, {"count": 1, "rack": "c"}),
        component("a", 2, 3, keep=(wish("component", "rack", 2),)), component("b", 1),
    ),
    "preferred, two sizes": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "a"}, {"count": 3, "rack": "b"}),
        component("a", 4, 6, tp=2, pp=2, keep=(wish("tp", "node"), wish("replica", "rack"))),
    ),
    "preferred, colocated": problem(
        cluster({"count": 3, "rack": "a"}, {"count": 3, "rack": "b"}),
        component("a", 4, pp=2, keep=(wish("replica", "rack"),)), component("b", 4, tp=1, pp=4, keep=(wish("replica", "rack"),)), together="a+b",
    ),
    "preferred on nodes": problem(RACKS, component("agent", 2, node_groups=("node",), keep=(wish("component", "rack"),)), component("a", 1)),
    "kept on two nodes": problem(ALIKE, component("a", 2, 3, keep=(Keep("component", "node", 2),)), component("b", 1)),
    "on nodes, kept in a rack": problem(RACKS, component("agent", 2, node_groups=("node",), keep=(Keep("component", "rack"),)), component("a", 1)),
    "on nodes, kept on one": problem(ALIKE, component("agent", 2, node_groups=("node",), keep=(Keep("component", "node"),)), component("a", 1)),
    "pinned, replicas kept in racks": problem(
        RACKS, component("a", 4, pp=2, keep=(Keep("replica", "rack"),), pins=pins(("2", (0,)), ("1", (2,))))
    ),
    "pinned, replicas kept in racks, torn": problem(
        RACKS, component("a", 4, pp=2, keep=(Keep("replica", "rack"),), pins=pins(("0", (0,)), ("1", (2,))))
    ),
    "pinned, replicas kept in racks, two of three": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 1, "rack": "b"}, {"count": 1, "rack": "b"}),
        component("a", 2, 4, pp=2, keep=(Keep("replica", "rack"),), pins=pins(("1", (1,)), ("3", (0,)))),
    ),
}  # fmt: skip
