"""Small problems about orders of ranks: the same order, and weights that are handed over in place."""

from __future__ import annotations

from placewright.models.component import Parallel
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem
from ..clusters import TWO

FOUR = cluster({"count": 4})
STRIDED = (Run(range(2), 0, pitch=2), Run(range(2, 4), 0, first=1, pitch=2))
RANK_CASES: dict[str, Problem] = {
    "rank aligned": problem(cluster({"count": 2}, {"count": 2}), component("a", 2, tp=2), component("b", 1, 2), aligned="a+b"),
    "rank aligned with a stride, inside blocks": problem(
        FOUR, component("a", 4, tp=2, contiguous=True, stride=2), component("b", 4, tp=4, contiguous=True), aligned="b+a"
    ),
    "rank aligned with a stride, whole processes": problem(
        FOUR, component("a", 4, tp=2, contiguous=True, stride=2), component("b", 4, tp=1, per_process=4), aligned="b+a"
    ),
    "rank aligned with given of a stride": problem(FOUR, given("a", *STRIDED), component("b", 4), aligned="a+b"),
    "rank aligned with given of a stride, and one itself": problem(
        FOUR, given("a", *STRIDED), component("b", 4, tp=2, contiguous=True, stride=2), aligned="b+a"
    ),
    "rank aligned with given of a stride, in blocks": problem(
        FOUR, given("a", *STRIDED), component("b", 4, tp=2, contiguous=True), aligned="b+a"
    ),
    "rank aligned with given of a stride, single ones in a range": problem(
        FOUR, given("a", *STRIDED), component("b", 4, contiguous=True), aligned="b+a"
    ),
    "rank aligned with given of a stride, single ones in any order": problem(
        FOUR, given("a", *STRIDED), component("b", 4, contiguous=True, any_order=True), aligned="b+a"
    ),
    "rank aligned with given": problem(TWO, given("a", Run(range(2), 0, first=2, pitch=-1)), component("b", 2, tp=2), aligned="b+a"),
    "rank aligned with given over nodes": problem(
        cluster({"count": 2}, {"count": 2}),
        given("a", Run(range(1), 0), Run(range(1, 2), 1), Run(range(2, 3), 0, first=1), Run(range(3, 4), 1, first=1)),
        component("b", 4, tp=2),
        aligned="b+a",
    ),
    "rank aligned with given in the order of nodes": problem(
        cluster({"count": 2}, {"count": 2}),
        given("a", Run(range(2), 1), Run(range(2, 4), 0)),
        component("b", 4),
        aligned="b+a",
    ),
    "rank aligned with given that share": problem(
        FOUR, given("a", Run(range(4), 0, pitch=0)), component("b", 1), aligned="b+a", shares=True
    ),
    "given in two orders": problem(
        TWO, given("a", Run(range(2), 0)), given("b", Run(range(2), 0, first=1, pitch=-1)), component("c", 1), aligned="b+a", shares=True
    ),
    "given, not the same": problem(
        TWO, given("a", Run(range(2), 0)), given("b", Run(range(2), 0, first=1)), component("c", 1), aligned="b+a", shares=True
    ),
    "in place": problem(FOUR, component("a", 4, tp=4), component("b", 4, tp=2), in_place="a+b"),
    "in place, the same tp": problem(cluster({"count": 3}), component("a", 2, tp=2), component("b", 2, tp=2), in_place="a+b"),
    "in place, of single ones": problem(FOUR, component("a", 3, tp=3), component("b", 3), in_place="a+b"),
    "in place, the larger one second": problem(FOUR, component("a", 4, tp=2), component("b", 4, tp=4), in_place="a+b"),
    "in place, ranges": problem(FOUR, component("a", 4, tp=4, contiguous=True), component("b", 4, tp=2, contiguous=True), in_place="a+b"),
    "in place, a range with its stride": problem(
        FOUR, component("a", 4, tp=4, contiguous=True), component("b", 4, tp=2, contiguous=True, stride=2), in_place="a+b"
    ),
    "in place, a stride that is another": problem(
        FOUR, given("a", *STRIDED, parallel=Parallel(2)), component("b", 4, tp=2, contiguous=True), in_place="a+b"
    ),
    "in place, and in one order": problem(FOUR, component("a", 4, tp=4), component("b", 4, tp=2), in_place="a+b", aligned="b+a"),
    "in place, from given": problem(TWO, given("a", Run(range(2), 0, first=1), parallel=Parallel(2)), component("b", 2), in_place="a+b"),
    "in place, from given of tp 4": problem(
        FOUR, given("a", Run(range(4), 0), parallel=Parallel(4)), component("b", 4, tp=2), in_place="a+b"
    ),
    "in place, from given in another order": problem(
        FOUR,
        given("a", *STRIDED, parallel=Parallel(4)),
        component("b", 4, tp=2, contiguous=True),
        in_place="a+b",
    ),
    "in place, from given beside a stride": problem(
        FOUR,
        given("a", *STRIDED, parallel=Parallel(4)),
        component("b", 4, tp=2, contiguous=True, stride=2),
        in_place="a+b",
    ),
    "in place, between given": problem(
        FOUR,
        given("a", Run(range(4), 0), parallel=Parallel(4)),
        given("b", Run(range(4), 0), parallel=Parallel(2)),
        component("c", 1),
        in_place="a+b",
        shares=True,
    ),
    "in place, between given with a stride": problem(
        cluster({"count": 4}, {"count": 1}),
        given("a", Run(range(4), 0), parallel=Parallel(4)),
        given("b", *STRIDED, parallel=Parallel(2)),
        component("c", 1),
        in_place="a+b",
        shares=True,
    ),
}
