"""Small problems of ranges that share whole processes, and lies about them."""

from __future__ import annotations

from typing import Any

from placewright.models.component import Component, Pin
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from ..cases import cluster, component, given, problem
from ..clusters import FIVE, TWO


def a(least: int, most: int | None = None, **more: Any) -> Component:
    return component("a", least, most, contiguous=True, any_order=True, **more)


def b(least: int, most: int | None = None, each: int = 2, **more: Any) -> Component:
    return component("b", least, most, per_process=each, contiguous=True, any_order=True, **more)


GROUND = given("g", Run(range(3), 0), Run(range(3, 5), 1))
STEP_CASES: dict[str, Problem] = {
    "in step, within": problem(FIVE, a(1, 4), b(2, 4), within="a+b", in_step="a+b"),
    "in step, around": problem(FIVE, a(1, 5), b(2, 4), within="b+a", in_step="a+b"),
    "in step, in threes": problem(TWO, a(2, 3), b(3, 6, each=3), within="a+b", in_step="a+b"),
    "in step, colocated": problem(FIVE, a(2, 5), b(2, 4), together="a+b", in_step="a+b"),
    "in step, with nothing in common": problem(FIVE, a(1, 2), b(2), in_step="a+b"),
    "in step, through another": problem(FIVE, a(2), component("c", 3), b(2), within="b+c c+a", in_step="a+b"),
    "in step, pinned, colocated": problem(
        cluster({"count": 2}, {"count": 1}), a(2, 3, pins=(Pin(range(0, 1), (1,)),)), b(2, 3, each=1, pins=(Pin(range(1, 2), (0,)),)),
        together="a+b", in_step="a+b",
    ),
    "in step, pinned apart, colocated": problem(
        cluster({"count": 2}, {"count": 1}), a(2, pins=(Pin(range(0, 1), (1,)),)), b(2, each=1, pins=(Pin(range(0, 1), (0,)),)),
        together="a+b", in_step="a+b",
    ),
    "in step, none of them a range": problem(
        FIVE, component("a", 1, 3), component("b", 2, 4, per_process=2), within="a+b", in_step="a+b"
    ),
    "in step, within given": problem(
        TWO, given("b", Run(range(1), 0, each=2, first=1), Run(range(1, 2), 1, each=2), per_process=2, contiguous=True), a(1, 4),
        within="a+b", in_step="a+b",
    ),
    "in step, given around": problem(TWO, given("a", Run(range(2), 0, first=1), Run(range(2, 4), 1), contiguous=True), b(2, 4), within="b+a", in_step="a+b"),
    "in step, beside given": problem(
        FIVE, GROUND, given("a", Run(range(2), 0), contiguous=True), b(2, 4), within="a+g b+g", shares=True, in_step="a+b"
    ),
    "in step, given in step": problem(
        TWO, given("a", Run(range(2), 0), contiguous=True), given("b", Run(range(1), 0, each=2), per_process=2, contiguous=True),
        component("c", 1), shares=True, in_step="a+b",
    ),
    "in step, given out of step": problem(
        TWO, given("a", Run(range(2), 0, first=1), contiguous=True), given("b", Run(range(1), 0, each=2), per_process=2, contiguous=True),
        component("c", 1), shares=True, in_step="a+b",
    ),
    "in step, given apart": problem(
        cluster({"count": 4}), given("a", Run(range(1), 0, first=3), contiguous=True),
        given("b", Run(range(1), 0, each=2), per_process=2, contiguous=True), component("c", 1), shares=True, in_step="a+b",
    ),
}  # fmt: skip
