"""Small problems with an answer before them: one to stay near, or ones that are ruled out."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Keep, Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.models.problem import AMOUNT, DOMAINS, SHARED, Cap, Problem, Structure
from placewright.solver.structure import kinds

from ..cases import cluster, component, problem

PAIRS = cluster({"count": 2}, {"count": 2})
ALIKE = cluster(*({"count": 2, "rack": rack} for rack in "abc"))
LARGER = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}, {"count": 3, "rack": "c"})


def single(rank: int, node: int, first: int) -> Run:
    return Run(range(rank, rank + 1), node, first=first)


def near(question: Problem, **runs: tuple[Run, ...]) -> Problem:
    return replace(question, previous=Assignment(runs))


def unlike(question: Problem, level: str, *figures: tuple[tuple[str, ...], int], **degrees: Parallel) -> Problem:
    alike = tuple(kinds(question, level).values()) if level else ()
    return replace(question, unlike=(*question.unlike, Structure(level, figures, tuple(degrees.items()), alike)))


NEAR_CASES = {
    "near an answer, equal nodes": near(
        problem(PAIRS, component("a", 2), component("c", 2, tp=2)), a=(single(0, 0, 0), single(1, 1, 1)), c=(Run(range(0, 2), 1),)
    ),
    "near an answer, nodes told apart": near(
        problem(cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}), component("a", 2), component("b", 1, 2)),
        a=(single(0, 0, 1), single(1, 1, 1)), b=(single(0, 0, 0),),
    ),
    "near an answer that shared": near(problem(PAIRS, component("a", 1), component("b", 2)), a=(single(0, 0, 1),), b=(single(0, 0, 1),)),
    "near one that overlaps itself": near(
        problem(cluster({"count": 4}), component("a", 4, tp=2)),
        a=(Run(range(0, 2), 0), Run(range(2, 4), 0, pitch=2), Run(range(4, 6), 0, first=1, pitch=2)),
    ),
    "near a range": near(
        problem(cluster({"count": 3}, {"count": 2}), component("r", 2, contiguous=True), component("a", 2)),
        r=(Run(range(0, 2), 0, first=1),), a=(single(0, 0, 2), single(1, 1, 0)),
    ),
    "near colocated ones": near(
        problem(PAIRS, component("a", 2, tp=2), component("b", 2), together="a+b"), a=(Run(range(0, 2), 1),), b=(Run(range(0, 2), 1),)
    ),
    "near groups in NUMA domains": near(
        problem(
            cluster({"count": 4, "numa": 2}, {"count": 2, "numa": 1}), component("a", 2, tp=2, keep=(Keep("tp", "numa"),)), component("b", 2)
        ),
        b=(single(0, 0, 0), single(1, 0, 2)), a=(Run(range(0, 2), 1),),
    ),
    "near groups that leave no NUMA domain whole": near(
        problem(cluster({"count": 4, "numa": 2}), component("a", 2, tp=2, keep=(Keep("tp", "numa"),)), component("b", 2)),
        b=(single(0, 0, 0), single(1, 0, 2)),
    ),
    "unlike one in a rack": unlike(problem(ALIKE, component("a", 2)), "rack", ((AMOUNT, "a", ""), 2), ((DOMAINS, "a", "a"), 1)),
    "unlike one that shares racks": unlike(
        problem(LARGER, component("a", 2), component("b", 2)), "rack",
        ((AMOUNT, "a", ""), 2), ((AMOUNT, "b", ""), 2), ((DOMAINS, "a", "a"), 1), ((DOMAINS, "b", "a"), 1), ((SHARED, "a", "b", "a"), 0),
        ((DOMAINS, "a", "c"), 0), ((DOMAINS, "b", "c"), 0), ((SHARED, "a", "b", "c"), 0),
    ),
    "unlike one of the same amount": unlike(problem(PAIRS, component("a", 1, 3)), "", ((AMOUNT, "a", ""), 2)),
    "capped: no rack more": replace(problem(ALIKE, component("a", 2), component("b", 1)), caps=(Cap((("extra racks", 1),), 0),)),
    "capped: two terms together": replace(
        problem(ALIKE, component("a", 2, traffic=2), component("b", 2)),
        caps=(Cap((("extra racks", 3), ("MiB of collectives across racks", 1)), 3),),
    ),
    "unlike one of other degrees": unlike(problem(PAIRS, component("a", 2)), "", ((AMOUNT, "a", ""), 2), a=Parallel(2)),
}  # fmt: skip
