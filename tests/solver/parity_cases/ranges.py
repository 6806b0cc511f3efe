"""Tiny problems about contiguous and strided components, for parity."""

from __future__ import annotations

from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem
from ..clusters import FIVE, LARGE, MIXED, SAME, TWO

RANGES_CASES: dict[str, Problem] = {
    "contiguous": problem(MIXED, component("a", 3, contiguous=True), component("b", 2, tp=2)),
    "contiguous, a range of amounts": problem(TWO, component("a", 2, 4, contiguous=True), component("b", 1)),
    "contiguous, two": problem(FIVE, component("a", 2, contiguous=True), component("b", 2, contiguous=True), component("c", 1)),
    "contiguous, tp": problem(FIVE, component("a", 4, tp=2, contiguous=True), component("b", 1)),
    "contiguous beside taken": problem(
        cluster({"count": 4, "rack": "a", "taken": 0b0010}, {"count": 3, "rack": "b", "taken": 0b001}),
        component("a", 2, contiguous=True),
        component("b", 2, tp=2),
    ),
    "contiguous in overlapping numberings": problem(
        SAME, component("a", 3, contiguous=True, node_groups=("odd",)), component("b", 2, contiguous=True)
    ),
    "contiguous and colocated": problem(
        cluster({"count": 4}, {"count": 2}), component("a", 4, tp=4, contiguous=True), component("b", 4, tp=2), together="b+a"
    ),
    "strided": problem(cluster({"count": 5}, {"count": 4}), component("a", 4, tp=2, contiguous=True, stride=2)),
    "strided, single": problem(LARGE, component("a", 2, contiguous=True, stride=2), component("b", 2)),
    "nodes in order": problem(
        cluster({"count": 1}, {"count": 2}, {"count": 2}, outer=(0, 2), inner=(1,)),
        component("a", 2, 3, contiguous=True, node_groups=("outer", "inner")),
        component("b", 1),
        in_order=True,
    ),
    "groups in the order of their nodes": problem(
        cluster({"count": 2}, {"count": 3}, late=(1,), early=(0,)),
        component("a", 2, 5, contiguous=True, node_groups=("late", "early")),
        in_order=True,
    ),
    "single ones in blocks": problem(cluster({"count": 4}, {"count": 1}), component("a", 1, 5, contiguous=True, stride=2)),
    "nodes in order, given": problem(
        cluster({"count": 2}, {"count": 2}, late=(1,), early=(0,)),
        given("a", Run(range(1), 0), Run(range(1, 2), 1, first=1)),
        component("b", 2, contiguous=True, node_groups=("late", "early")),
        together="b+a",
        in_order=True,
    ),
}
