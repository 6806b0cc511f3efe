"""What is said of all designs of a question, and of all in which some components are in such sets, is never more than any of them takes."""

from __future__ import annotations

from random import Random
from typing import Any, Sequence

import pytest
from placewright.models.planning.design import Design
from placewright.models.planning.question import Question
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.cuts.least import LeastCut
from placewright.solver.planning.searching.relaxed import least as relaxed
from placewright.solver.planning.searching.relaxed.busy import Busy
from placewright.solver.planning.searching.relaxed.enclosing import Enclosing, Forest
from placewright.solver.planning.searching.relaxed.keeping import Keeping
from placewright.solver.planning.searching.relaxed.least import least
from placewright.solver.planning.searching.structures.structure import OUTSIDE

from ...questions import question
from ...tried import Price, priced

MODELS = ("stages", "stream")
SEEDS = range(150)
FEW = 25
"""Designs of a question that are looked at: the best ones, and as many others."""
Known = list[tuple[str, Question, list[tuple[Price, Design]]]]


@pytest.fixture(scope="module")
def known() -> Known:
    """Questions with all their designs."""
    return [
        (name, its, list(priced(its, name == "stages"))) for name in MODELS for seed in SEEDS for its in (question(seed, name == "stages"),)
    ]


def sets_of(asked: Question, design: Design) -> list[tuple[str, ...]]:
    """The components on exactly the same accelerators, of those that take any."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name in asked.components:
        if blocks := design.blocks_of(name):
            found.setdefault(blocks, []).append(name)
    return [tuple(its) for its in found.values()]


def inside_of(design: Design, sets: Sequence[tuple[str, ...]]) -> list[int]:
    """For each set, the smallest of those around it."""
    blocks = [frozenset(design.blocks_of(its[0])) for its in sets]
    around = [[number for number, other in enumerate(blocks) if mine < other] for mine in blocks]
    return [min(its, key=lambda number: len(blocks[number]), default=OUTSIDE) for its in around]


def some_of(sets: Sequence[Sequence[str]], random: Random) -> list[tuple[str, ...]]:
    """The same with some of the components left out."""
    kept = [tuple(name for name in its if random.random() < 0.6) for its in sets]
    return [its for its in kept if its]


def holds(known: Known) -> bool:
    """Is nothing passed over that costs less than is asked for, and nothing said to cost more than it does?"""
    for name, asked, every in known:
        model, random = cost_model(name), Random(0)
        some = [*sorted(every, key=lambda its: its[0])[:FEW], *random.sample(every, min(FEW, len(every)))]
        floor, keeping = least(asked, model), Keeping(Busy(asked), model)
        enclosing = Enclosing(keeping)
        if every and (floor is None or floor > min(price for price, _ in every)):
            return False
        if name == "stream" and every and LeastCut(asked, model, lambda seconds: True).least() > min(price for price, _ in every)[0]:
            return False
        for price, design in some:
            sets = sets_of(asked, design)
            inside = inside_of(design, sets)
            for below in (None, (price[0] + 1, 0), (price[0], price[1] + 1)):
                keeping.below(below)
                if not all(keeping.can_be(its) for its in (sets, some_of(sets, random)) if its):
                    return False
                if sets and not all(enclosing.can_lie(sets, inside[:count]) for count in (len(sets), random.randrange(len(sets)))):
                    return False
    return True


def test_no_design_costs_less_than_all_do(known: Known) -> None:
    assert holds(known)
    assert sum(min(FEW, len(every)) for _, _, every in known) > 3_000


def test_the_bound_of_all_is_often_near(known: Known) -> None:
    """No more than a third below the best of a half of all questions, and exact for some."""
    shares = []
    for name, asked, every in known:
        if every and asked.aim == "seconds":
            floor = least(asked, cost_model(name))
            assert floor is not None
            shares.append(floor[0] / min(price for price, _ in every)[0])
    assert sorted(shares)[len(shares) // 2] > 0.67 and max(shares) == 1.0


LIES = {
    "a little more work": (Busy, "need", lambda original: lambda *its: (n := original(*its)) and n._replace(area=n.area + 1 + n.area // 8)),
    "one accelerator less": (Busy, "most", lambda original: property(lambda self: original.fget(self) - 1)),
    "longer stages": (relaxed, "shortest", lambda original: lambda *its: (t := original(*its)) and t + 1 + t // 8),
    "more for a set": (Keeping, "need", lambda original: lambda *its: (n := original(*its)) and n._replace(accelerators=n.accelerators + 1)),
    "longer sets": (Keeping, "longest", lambda original: lambda *its: [each + 1 for each in original(*its)]),
    "one more inside": (Forest, "beside", lambda original: lambda *its: original(*its) + 1),
    "longer around": (Enclosing, "_loads", lambda original: lambda *its: tuple(each + 1 for each in original(*its))),
    "longer parts": (LeastCut, "_searched", lambda original: lambda *its: (original(*its)[0] + 1, 1)),
    "a slower task": (LeastCut, "_at_sight", lambda original: lambda *its: original(*its) + 1 + original(*its) // 8),
    "larger sets": (Keeping, "need", lambda original: lambda *its: (n := original(*its)) and n._replace(area=n.area + 1 + n.area // 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_every_lie_is_caught(name: str, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, lie = LIES[name]
    monkeypatch.setattr(owner, attribute, lie(_raw(owner, attribute)))
    assert not holds(known)


def _raw(owner: Any, attribute: str) -> Any:
    return vars(owner)[attribute]
