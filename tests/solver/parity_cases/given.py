"""Tiny problems in which ranks are given, for parity."""

from __future__ import annotations

from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import component, given, problem
from ..clusters import LARGE, MIXED, TWO

GIVEN_CASES: dict[str, Problem] = {
    "given": problem(TWO, given("a", Run(range(2), 0, first=1)), component("b", 2), component("c", 2), together="b+a"),
    "given, uneven": problem(
        TWO, given("a", Run(range(1), 0, first=1), Run(range(1, 2), 1, first=1)), component("b", 2, tp=2), together="b+a"
    ),
    "given beside contiguous": problem(
        TWO, given("a", Run(range(1), 0, first=1)), component("c", 2, contiguous=True), component("d", 2, tp=2)
    ),
    "given in pieces, contiguous": problem(
        TWO, given("a", Run(range(1), 0), Run(range(1, 2), 0, first=2)), component("b", 2, contiguous=True), together="b+a"
    ),
    "given, strided": problem(LARGE, given("a", Run(range(4), 0)), component("b", 4, tp=2, contiguous=True, stride=2), together="b+a"),
    "given together, disjoint": problem(
        TWO, given("a", Run(range(1), 0)), given("b", Run(range(1), 0)), component("c", 1), apart="a+b", shares=True
    ),
    "given apart, colocated": problem(
        TWO, given("a", Run(range(1), 0)), given("b", Run(range(1), 0, first=1)), component("c", 1), together="a+b", shares=True
    ),
    "given too large for the memory": problem(
        MIXED,
        given("a", Run(range(1), 0), memory=30 * 1024),
        given("b", Run(range(1), 0), memory=30 * 1024),
        component("c", 1),
        shares=True,
    ),
    "given that fits the memory": problem(
        MIXED,
        given("a", Run(range(1), 1), memory=30 * 1024),
        given("b", Run(range(1), 1), memory=30 * 1024),
        component("c", 1),
        shares=True,
    ),
    "given in the wrong group": problem(MIXED, given("a", Run(range(1), 0), node_groups=("end",)), component("b", 1)),
    "given, replicas over nodes": problem(
        TWO,
        given("a", Run(range(1), 0, first=1), Run(range(1, 2), 1, first=1)),
        component("b", 2, pp=2, role="rollout"),
        together="b+a",
        whole=True,
    ),
    "given, replicas on whole nodes": problem(
        TWO,
        given("a", Run(range(2), 0), Run(range(2, 4), 1), parallel=component("a", 4, pp=4).parallel, role="rollout"),
        component("b", 1),
        whole=True,
    ),
}
