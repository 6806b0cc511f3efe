"""What arrangements take at least with one cut: never more than a design of it, whichever components have a place by then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.planning.kind import NO_KIND
from placewright.models.planning.question import Question
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.costs.cost_model import iteration
from placewright.solver.planning.searching.cuts.least import LeastCut
from placewright.solver.planning.searching.cuts.multipliers import Times
from placewright.solver.planning.searching.cuts.shared import SharedCut, Worth
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.searched import Found

from ...test_very_many import job
from .test_every import EVERY, SEEDS, asked_for


def within(seconds: float) -> bool:
    return True


def cut_of(asked: Question, name: str, found: Found) -> SharedCut:
    parts: dict[int, int] = {}
    for task, segment in enumerate(found.design.segments):
        parts[segment] = parts.get(segment, 0) | 1 << task
    model = cost_model(name)
    least = LeastCut(asked, model, within)
    its = [parts[segment] for segment in sorted(parts)]
    return SharedCut(Worth(Times.asked(asked, model), within), its, [least.of_part(part) for part in its])


def sets_of(asked: Question, found: Found) -> list[tuple[str, ...]]:
    return [its for its in found.structure.sets if asked.options[its[0]][0].kind != NO_KIND]


@pytest.mark.parametrize("name", ["stream", "rlinf"])
def test_no_design_takes_less(name: str) -> None:
    refused = compared = 0
    for seed in range(SEEDS):
        asked = replace(asked_for(seed), nested=False, within=frozenset())
        for found in search(asked, cost_model(name), count=EVERY).found:
            cut, takes = cut_of(asked, name, found), iteration(cost_model(name), asked, found.design)
            for count in range(1, len(cut.order) + 1):
                placed = set(cut.order[:count])
                sets = [its for each in sets_of(asked, found) if (its := tuple(name for name in each if name in placed))]
                for _ in range(2):  # also with the multipliers that the first look left
                    assert cut.may_take(sets, takes), (seed, sets)
                    compared += 1
            refused += not cut.may_take(sets_of(asked, found), takes - 1 - takes // 20)
    assert compared > 200 and refused > 20  # it says something, too


def test_of_a_chain_it_comes_near() -> None:
    """Sets have as many accelerators in one part as in another: that is what each part by itself does not know."""
    asked = job(10, 64, 2, chain=True)
    found = next(each for each in search(asked, cost_model("stream"), count=4).found if max(each.design.segments) > 0)
    cut, takes = cut_of(asked, "stream", found), found.price[0]
    assert cut.may_take(sets_of(asked, found), takes) and not cut.may_take(sets_of(asked, found), takes - takes // 16)


def test_two_of_a_part_are_not_on_the_same_accelerators() -> None:
    asked = job(8, 16, 1, chain=True)
    found = search(asked, cost_model("stream")).best
    assert found is not None
    cut = cut_of(asked, "stream", found)
    one, other = [asked.tasks[task].component for task in range(8) if cut.parts[-1] >> task & 1][:2]
    assert not cut.may_take([(one, other)], found.price[0] * 10)
