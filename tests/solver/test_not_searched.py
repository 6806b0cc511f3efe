"""What the search does not take on is refused before it starts; what it takes on is answered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Keep, Parallel, Pin
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.search_scope import find_unsupported
from placewright.solver.searching.search import solve

from .cases import cluster, component, given, problem
from .clusters import TWO
from .parity_cases.every import CASES

NODES = cluster({"count": 8}, {"count": 8}, back=(1,), front=(0,))


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (
            problem(
                NODES,
                given("f", Run(range(8), 0)),
                given("g", Run(range(2), 0)),
                component("a", 4),
                component("b", 2),
                within="a+f g+a b+a",
                shares=True,
            ),
            "b is within a, which is around given ranks and within others that may overlap them",
        ),
        (
            replace(
                problem(
                    cluster({"count": 4, "numa": 2}),
                    given("g", Run(range(1), 0)),
                    component("a", 2, tp=2, keep=(Keep("tp", "numa"),)),
                    within="g+a",
                ),
                previous=Assignment({"a": (Run(range(2), 0),)}),
            ),
            "given ranks are within a, whose groups are inside NUMA domains: moved groups are not counted",
        ),
        (
            problem(NODES, component("a", 8), component("m", 4), component("b", 2), within="b+m b+a"),
            "b is within m and a, whose places are open and not one inside another",
        ),
        (
            problem(NODES, given("a", Run(range(4), 0)), component("m", 4), component("b", 2), within="b+m b+a"),
            "b is within m and a, whose places are open and not one inside another",
        ),
        (
            problem(NODES, component("a", 4), component("b", 4), within="b+a a+b"),
            "a is within b and a, whose places are open and not one inside another",
        ),
        (
            problem(
                NODES,
                component("a", 8, contiguous=True, node_groups=("back", "front")),
                component("b", 2, contiguous=True, node_groups=("front", "back")),
                within="b+a",
            ),
            "b is contiguous within a, which is so too, but not in the same node groups",
        ),
        (
            problem(
                TWO,
                given("a", Run(range(2), 0)),
                given("d", Run(range(2), 0, first=1)),
                component("b", 1),
                component("c", 1),
                within="b+a c+d",
                shares=True,
            ),
            "b and c may use accelerators that are the same in part",
        ),
        (
            replace(
                problem(TWO, given("d", Run(range(1), 0)), component("b", 1), either="b+d"), previous=Assignment({"b": (Run(range(1), 0),)})
            ),
            "b may share with d or not, and d is given: how many groups move is not counted",
        ),
        (
            problem(
                cluster({"count": 8, "numa": 2}),
                component("a", 4, tp=2, contiguous=True, stride=2),
                component("b", 4, tp=2, keep=(Keep("tp", "numa"),)),
                aligned="b+a",
            ),
            "groups of b must be inside NUMA domains, in an order of ranks that other components demand",
        ),
        (
            problem(
                cluster(*({"count": 2, "rack": rack, "nvlink_domain": name} for rack in "rs" for name in "nm")),
                replace(
                    component("a", 4, keep=(Keep("replica", "rack", required=False), Keep("ep", "nvlink_domain", required=False))),
                    parallel=Parallel(pp=4, ep=2),
                ),
            ),
            "groups of a are better kept together inside one rack and inside one NVLink domain, and these cross",
        ),
        (
            problem(
                cluster(*({"count": 1, "rack": rack} for rack in "abab")),
                component("a", 2, pp=2, keep=(Keep("replica", "rack"),)),
                in_order=True,
            ),
            "groups of a must be inside one rack, and ranks go through nodes on which racks take turns",
        ),
        (
            problem(
                TWO,
                component("a", 4, tp=2, contiguous=True, stride=2, keep=(Keep("tp", "zone"),), pins=(Pin(range(2, 3), (1,)),)),
            ),
            "a has pinned ranks, and groups that interleave and may span several nodes",
        ),
        *(
            (
                problem(
                    TWO,
                    component("a", 4, tp=2, keep=(Keep("tp", "node", required=False),), pins=pin if both else ()),
                    component("b", 4, tp=2, pins=pin),
                    together="a+b",
                ),
                why,
            )
            for pin in [(Pin(range(2), (1,)),)]
            for both, why in [
                (True, "a has pinned ranks and groups that are better kept together, only one of which is searched"),
                (
                    False,
                    "b has pinned ranks, and a on the same accelerators groups that are better kept together, only one of which is searched",
                ),
            ]
        ),
    ],
)
def test_refused_with_a_reason(question: Problem, why: str) -> None:
    answer = solve(question)
    assert (answer.verdict, answer.plan) == ("undecided", None)
    assert answer.findings[0].code == "PW604"
    assert answer.findings[0].message == f"not searched: {why}"
    assert answer.findings[0].help


def test_of_two_that_a_third_lies_within_one_is_put_inside_the_other() -> None:
    """Their ranks would not help: they may not overlap unless that is said."""
    parts = component("a", 12), component("b", 4), component("c", 8)
    (finding,) = solve(problem(NODES, *parts, within="b+a b+c")).findings
    assert finding.help == "put one of them inside the other, such as `within: a` of c"
    assert solve(problem(NODES, *parts, within="b+a b+c c+a")).plan is not None


def test_all_cases_of_parity_are_searched() -> None:
    assert [name for name, question in CASES.items() if find_unsupported(question)] == []
