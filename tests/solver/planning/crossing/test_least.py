"""No placement of a design has less traffic than what is said of it before it is placed."""

from __future__ import annotations

from random import Random

from placewright.models.planning.design import Design
from placewright.models.planning.question import Question
from placewright.solver.planning.asked import asked
from placewright.solver.planning.crossing.least import LeastCrossing

from ..tried import priced
from .questions import drawn, least_placed

SEEDS, EACH = 60, 12


def some(question: Question, seed: int) -> list[Design]:
    """Some of the designs of a question, each with other counts, degrees or sharing."""
    every = {(design.blocks, tuple(design.options.items())): design for _, design in priced(question, False)}
    return Random(seed).sample(list(every.values()), min(EACH, len(every)))


def test_no_placement_has_less() -> None:
    compared = exact = crossing = 0
    for seed in range(SEEDS):
        asked_for, workload = drawn(seed)
        question = asked(asked_for, workload)
        if question.crossing is None:
            continue
        least = LeastCrossing(question, question.crossing)
        for design in some(question, seed):
            found, real = least.of(design), least_placed(asked_for, workload, design)
            if real is not None:
                assert found <= real, (seed, design)
                compared, exact, crossing = compared + 1, exact + (found == real), crossing + bool(real)
    assert compared > 300
    assert crossing > compared // 4
    assert exact > compared * 3 // 4
