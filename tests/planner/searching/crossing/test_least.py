"""No placement of a design has less traffic than what is said of it before it is placed."""

from __future__ import annotations

from random import Random
from typing import Callable, Iterator

import pytest
from placewright.models.planning.design import Design
from placewright.models.planning.option import Flow
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.problem import planning_problem
from placewright.planner.search import crossing as least
from placewright.planner.search.crossing import DomainSizes, LeastCrossing, LinkSide, bound_traffic

from ...tried import priced
from .questions import crossing_of, drawn, least_placed

SEEDS, EACH = 60, 12


def some(question: PlanningProblem, seed: int) -> list[Design]:
    """Some of the designs of a question, each with other counts, degrees or sharing."""
    every = {(design.blocks, tuple(design.options.items())): design for _, design in priced(question, False)}
    return Random(seed).sample(list(every.values()), min(EACH, len(every)))


def compared() -> Iterator[tuple[int, int]]:
    """What is said of designs, and the least of all their placements."""
    for seed in range(SEEDS):
        asked_for, workload = drawn(seed)
        question = planning_problem(asked_for.with_workload(workload))
        if question.crossing is not None:
            said = LeastCrossing(question, question.crossing)
            for design in some(question, seed):
                real = least_placed(asked_for, workload, design)
                if real is not None:
                    yield crossing_of(said, design), real


def test_no_placement_has_less_and_often_one_has_no_more() -> None:
    found = list(compared())
    assert all(said <= real for said, real in found)
    assert len(found) > 300
    crossing = [(said, real) for said, real in found if real]
    assert len(crossing) > len(found) // 4
    assert sum(said == real for said, real in crossing) > len(crossing) * 3 // 4


def without_room(source: LinkSide, target: LinkSide, flow: Flow, inside: bool) -> int:
    return flow.weights * target.fewest


def one_more(self: DomainSizes, amount: int, group: int = 1) -> int:
    return min(self.count, -(-amount // max(self.most(1, group), 1)) + 1)


LIES: dict[str, tuple[object, str, Callable[..., int]]] = {
    "nothing is in common": (least, "bound_traffic", without_room),
    "it is in a domain more": (DomainSizes, "fewest", one_more),
    "what is inside needs room of its own": (
        least,
        "bound_traffic",
        lambda one, other, flow, inside: bound_traffic(one, other, flow, False),
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_above_what_some_placement_has(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*LIES[lie])
    assert any(said > real for said, real in compared())
