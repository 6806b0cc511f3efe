"""Small problems in which something crosses a level of the topology."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Keep, Spread
from placewright.models.job import WEIGHTED, Link, Preference
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem

RACKS = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}, {"count": 1, "rack": "c"})
HALLS = cluster(
    {"count": 2, "rack": "a", "zone": "x"},
    {"count": 1, "rack": "b", "zone": "x"},
    {"count": 1, "rack": "c", "zone": "y", "taken": 0},
    {"count": 2, "rack": "d", "zone": "y"},
)
ISLANDS = cluster(*({"count": 1, "rack": rack, "nvlink_domain": island} for rack, island in ("ap", "aq", "bp", "br")))
ROBOTS = cluster({"count": 2, "rack": "a", "robots": 1}, {"count": 2, "rack": "b"}, {"count": 0, "rack": "b", "robots": 1}, robots=(0, 2))


def linked(question: Problem, *links: Link, weights: dict[str, int] | None = None) -> Problem:
    """The same question with traffic; one weighted sum if weights are given."""
    preference = Preference() if weights is None else Preference(WEIGHTED, weights)
    return replace(question, job=replace(question.job, links=links, preference=preference))


def sends(source: str, target: str, weights: int = 0, stream: int = 0, ratio: int = 1) -> Link:
    return Link(source, target, weights, stream, ratio)


TRAFFIC_CASES: dict[str, Problem] = {
    "collectives": problem(RACKS, component("a", 2, 3, traffic=5), component("b", 2)),
    "collectives of a colocated set": problem(RACKS, component("a", 3, traffic=5), component("b", 3, traffic=2), together="b+a"),
    "collectives at two levels": problem(HALLS, component("a", 2, 4, traffic=3), component("b", 1)),
    "collectives of islands": problem(ISLANDS, component("a", 2, traffic=3), component("b", 1, traffic=1)),
    "weights": linked(problem(RACKS, component("a", 2, traffic=5), component("b", 2)), sends("a", "b", weights=3)),
    "weights of two targets": linked(
        problem(RACKS, component("a", 1, 2), component("b", 1), component("c", 1)), sends("a", "b", 3), sends("a", "c", 2)
    ),
    "weights both ways": linked(problem(RACKS, component("a", 2), component("b", 2)), sends("a", "b", 3), sends("b", "a", 2)),
    "weights at home": linked(problem(RACKS, component("a", 2), component("b", 2), together="b+a"), sends("a", "b", 3)),
    "weights from given": linked(problem(RACKS, given("a", Run(range(1), 0)), component("b", 3)), sends("a", "b", 3)),
    "weights to given": linked(problem(RACKS, given("b", Run(range(2), 1)), component("a", 1, traffic=1)), sends("a", "b", 3)),
    "streams": linked(problem(RACKS, component("a", 1, 2), component("b", 2)), sends("a", "b", stream=2)),
    "streams of a ratio": linked(
        problem(cluster({"count": 3, "rack": "a"}, {"count": 2, "rack": "b"}), component("a", 1), component("b", 3)),
        sends("a", "b", stream=2, ratio=2),
    ),
    "streams to robots": linked(
        problem(ROBOTS, component("env", 2, node_groups=("robots",)), component("a", 2, tp=2)), sends("a", "env", stream=1)
    ),
    "streams to nodes": linked(
        problem(ROBOTS, component("agent", 3, node_groups=("node",)), component("a", 2)), sends("a", "agent", weights=2, stream=1)
    ),
    "all of it": linked(
        problem(RACKS, component("a", 2, tp=2, traffic=10), component("b", 1, 2), component("c", 1)),
        sends("a", "b", weights=6),
        sends("b", "c", stream=1),
    ),
    "weights and streams both ways": linked(
        problem(RACKS, component("a", 1, 2), component("b", 2)), sends("a", "b", stream=1), sends("b", "a", weights=6, stream=2)
    ),
    "all of it, at a ratio": linked(
        problem(
            cluster({"count": 3, "rack": "a"}, {"count": 2, "rack": "b"}),
            component("a", 1),
            component("b", 1),
            component("c", 2, 3),
        ),
        sends("a", "b", weights=6),
        sends("b", "c", stream=1, ratio=2),
    ),
    "all of it, contiguous": linked(
        problem(RACKS, component("a", 2, traffic=4, contiguous=True), component("b", 1, 2)), sends("a", "b", weights=3, stream=1)
    ),
    "kept and spread": linked(
        problem(
            cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "a"}, {"count": 3, "rack": "b"}),
            component("a", 2, tp=1, pp=2, traffic=4, keep=(Keep("replica", "rack"),)),
            component("b", 2, spread=(Spread("rack", percent=50),)),
        ),
        sends("a", "b", weights=3),
    ),
    "two levels": linked(
        problem(HALLS, component("a", 2, traffic=3), component("b", 2)), sends("a", "b", weights=2, stream=1)
    ),
    "two levels, weighted": linked(
        problem(HALLS, component("a", 2, traffic=3), component("b", 2)), sends("a", "b", weights=2, stream=1), weights={"zone": 4, "rack": 3}
    ),
}  # fmt: skip
