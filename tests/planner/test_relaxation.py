"""Structures searched with less memory first, where listing what fits is slow: nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.costs import cost_model
from placewright.planner.search import bounds as relaxation
from placewright.planner.search import search as searching
from placewright.planner.search.choices import BlockChoices
from placewright.planner.search.search import Candidate, search
from placewright.planner.search.sizing import Sizing

from .questions import question

SEEDS = range(60)
NEVER = 1 << 60
TOP = 3


def tight(seed: int, stages: bool) -> PlanningProblem:
    """A question in which the quickest ways take the most memory, and not all of them fit together."""
    random = Random(seed)
    asked = question(seed, stages)
    options = {name: tuple(_options(random, asked, name)) for name in asked.components}
    none: frozenset[Any] = frozenset()
    sharing = replace(asked.sharing, together=none, apart=none, within=none, alone=none, nested=random.random() < 0.3)
    return replace(asked, kinds=(AcceleratorKind("large", 4, 16),), options=options, sharing=sharing)


def _options(random: Random, asked: PlanningProblem, name: str) -> list[Option]:
    work, tasks = random.randint(20, 60), len(asked.tasks_of[name])
    return [
        Option(
            0,
            count,
            Parallel(degree),
            tuple(-(-work * random.randint(8, 12) * degree // count) * asked.flow.batches for _ in range(tasks)),
            random.randint(8, 14) // degree + 1,
            1,
        )
        for count in (1, 2, 4)
        for degree in (1, 2)
    ]


def prices(asked: PlanningProblem, name: str, costly: int) -> list[object]:
    """What the best structures cost, where it is looked with the least memory first from so many options on; and that it is proved."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(searching, "COSTLY", costly)
        searched = search(asked, cost_model(name), count=TOP)
    return [searched.proved, *(each.price for each in searched.found)]


def differs() -> bool:
    """Is there a question to which there is another answer than when all that fits is listed at once, which is compared with everything tried?"""
    return any(
        prices(asked, name, 0) != prices(asked, name, NEVER)
        for name in ("stages", "stream")
        for asked in (tight(seed, name == "stages") for seed in SEEDS)
    )


@pytest.mark.slow
def test_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    end = Candidate._leave

    def noted(self: Candidate, *rest: Any) -> int:
        looked = end(self, *rest)
        left.append(not self.proved)
        return looked

    monkeypatch.setattr(Candidate, "_leave", noted)
    assert not differs()
    assert left.count(True) > 200, "what fits has to be listed of very many of them"


LIES: dict[str, tuple[object, str, Any]] = {
    "the fewest accelerators alone are left": (BlockChoices, "amounts", lambda amounts: lambda *of: amounts(*of)[:1]),
    "nothing is left": (relaxation.Narrowing, "narrow", lambda narrow: lambda *of: len(of) == 3 and of[2] is None and narrow(*of)),
    "one accelerator less": (relaxation, "replace", lambda change: lambda its, **changes: change(smaller(its), **changes)),
    "what is too large fits": (Sizing, "fits", lambda fits: lambda *of: True),
}


def smaller(asked: Any) -> Any:
    """A question with an accelerator less of each kind; anything else as it is."""
    if not isinstance(asked, PlanningProblem):
        return asked
    return replace(asked, kinds=tuple(replace(kind, accelerators=kind.accelerators - 1) for kind in asked.kinds))


@pytest.mark.parametrize("name", LIES)
def test_every_lie_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, lie = LIES[name]
    monkeypatch.setattr(owner, attribute, lie(getattr(owner, attribute)))
    assert differs()
