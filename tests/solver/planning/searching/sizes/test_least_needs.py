"""Memory of sets inside one another: nothing is left out that fits, and what never fits is not looked at."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Sequence

import placewright as pw
import pytest
from placewright.models.planning.question import Question
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.sizes.choice import Choice
from placewright.solver.planning.searching.sizes.choices import Choices
from placewright.solver.planning.searching.sizes.domains import Narrowing
from placewright.solver.planning.searching.sizes.least import Least
from placewright.solver.planning.searching.sizes.sizing import Sizing
from placewright.solver.planning.searching.structures.every import structures

from ...questions import question
from ...texts import FOUR_IN_A_CIRCLE

MODEL = cost_model("stream")


def nested(seed: int) -> Question:
    its = question(seed, False)
    return replace(its, nested=True, kinds=tuple(replace(kind, memory=8 if kind.memory is None else kind.memory) for kind in its.kinds))


def test_all_that_fits_is_left_and_much_that_does_not_is_left_out() -> None:
    fitting = never = 0
    for seed in range(60):
        asked, least = nested(seed), Least()
        ways = Choices(asked, MODEL.divisor(asked))
        for structure in structures(asked, MODEL):
            sizing = Sizing(asked, MODEL, structure, ways)
            if not all(sizing.choices) or max(map(len, sizing.choices)) ** len(sizing.choices) > 2_000:
                continue
            fit = [its for its in product(*(range(len(its)) for its in sizing.choices)) if sizing.allows(chosen(sizing, its))]
            narrowing = Narrowing(sizing)
            domains = narrowing.start()
            left = narrowing.narrow(domains, None)
            assert all(left and all(place in its for place, its in zip(each, domains.left)) for each in fit), seed
            assert not fit or least.of(sizing) is not None, seed
            fitting += len(fit)
            never += least.of(sizing) is None and sum(sizing.choices[number][0].accelerators for number in sizing.roots) <= sizing.most
    assert fitting > 1_000 and never > 20


def chosen(sizing: Sizing, places: Sequence[int]) -> tuple[Choice, ...]:
    return tuple(its[place] for its, place in zip(sizing.choices, places))


@pytest.mark.parametrize("count", [1, 4])
def test_four_in_a_circle_are_soon_proved(count: int, tmp_path: Path) -> None:
    """Whatever shares accelerators with the rollout, which keeps 60 GiB, has no memory."""
    file = tmp_path / "job.yaml"
    file.write_text(FOUR_IN_A_CIRCLE, encoding="utf-8")
    found = pw.solve(file).planned
    assert found is not None
    searched = search(found.question, MODEL, count=count)
    assert searched.proved and searched.best is not None and searched.best.price[0] == 112_276_984_875
    assert searched.spent < 0.5
