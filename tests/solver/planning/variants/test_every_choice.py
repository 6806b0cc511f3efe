"""All choices of models asked at once: a bound of every plan on any models, and the same answers as one choice after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Iterator

import placewright as pw
import pytest
from placewright.models.planning.design import Design
from placewright.models.planning.kind import NO_KIND
from placewright.models.planning.limits import Common
from placewright.models.planning.measured import SECOND
from placewright.models.planning.question import Question
from placewright.solver.planning.check import faults
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.variants import choosing_models
from placewright.solver.planning.variants.every_choice import of_every_choice

from ..questions import question
from ..tried import priced
from .every_way import each_planned
from .on_models import Instance

MODELS = "H100", "A100", "L40"
Counts = tuple[int, ...]


class Three:
    """Three components with times for two or three models; each is on accelerators of its own, or shares all of them."""

    def __init__(self, seed: int) -> None:
        random = Random(f"three {seed}")
        self.models = MODELS[: random.choice((2, 3))]
        self.counts = tuple(random.randint(1, 3 if len(self.models) == 2 else 2) for _ in self.models)
        self.names = "abc"
        some = {name: [model for model in self.models if random.random() < 0.85] or list(self.models[:1]) for name in self.names}
        self.times = {
            (name, model): {count: random.randint(20, 60) // random.randint(1, count) + 1 for count in range(1, sum(self.counts) + 1)}
            for name in self.names
            for model in some[name]
        }

    def text(self) -> str:
        nodes = ", ".join(f"{{accelerators: {{count: {count}, model: {model}}}}}" for count, model in zip(self.counts, self.models))
        lines = [f"cluster: {{nodes: [{nodes}]}}", "components:"]
        for name in self.names:
            rows = ", ".join(
                f"{{accelerators: {count}, seconds: {time}, accelerator: {model}}}"
                for (each, model), times in self.times.items()
                if each == name
                for count, time in times.items()
            )
            lines.append(f"  {name}: {{accelerators: 1-{sum(self.counts)}, scaling: table, seconds: [{rows}]}}")
        return "\n".join([*lines, "plan: {cost_model: steady}", ""])

    def best(self) -> tuple[int, int] | None:
        """The shortest time, with the fewest accelerators: of every way to share, and to lay each set on the models."""
        ways = [its for its in product(*(range(count + 1) for count in self.counts)) if any(its)]
        return min(
            (
                price
                for sets in _partitions(self.names)
                for chosen in product(ways, repeat=len(sets))
                if (price := self._price(sets, chosen))
            ),
            default=None,
        )

    def _price(self, sets: list[str], chosen: tuple[Counts, ...]) -> tuple[int, int] | None:
        if any(sum(its) > count for its, count in zip(zip(*chosen), self.counts)):
            return None
        takes = []
        for names, held in zip(sets, chosen):
            models = [model for model, count in zip(self.models, held) if count]
            if any((name, model) not in self.times for name in names for model in models):
                return None
            takes.append(sum(max(self.times[name, model][sum(held)] for model in models) for name in names))
        return max(takes), sum(map(sum, chosen))


def _partitions(names: str) -> Iterator[list[str]]:
    if not names:
        yield []
        return
    for rest in _partitions(names[1:]):
        yield [names[0], *rest]
        yield from ([names[0] + its if number == place else its for number, its in enumerate(rest)] for place in range(len(rest)))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few choices there are."""
    monkeypatch.setattr(choosing_models, "MOST_PARTS", 0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("first", range(0, 80, 10))
def test_as_good_as_every_way_to_lay_two(first: int, tmp_path: Path) -> None:
    for seed, instance, planned, best in each_planned(Instance, range(first, first + 10), tmp_path / "job.yaml"):
        takes, used = round((planned.best.nanoseconds + planned.best.traffic) / SECOND), planned.best.design.accelerators
        assert ((used, takes) if instance.fewest else (takes, used)) == best, seed


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_as_good_as_every_way_to_lay_three(first: int, tmp_path: Path) -> None:
    for seed, _, planned, best in each_planned(Three, range(first, first + 10), tmp_path / "job.yaml"):
        assert (planned.best.nanoseconds // SECOND, planned.best.design.accelerators) == best, seed


def test_no_way_to_lay_them_costs_less_than_the_best_design(tmp_path: Path) -> None:
    """And most of these are that way: it is worth to be asked."""
    file, alike, asked = tmp_path / "job.yaml", 0, 0
    for seed in range(150):
        three = Three(seed)
        file.write_text(three.text(), encoding="utf-8")
        problem, best = pw.load(str(file)).problem, three.best()
        assert problem is not None
        its = of_every_choice(problem)
        if its is None:
            continue
        asked += 1
        searched = search(its[0], cost_model("steady"))
        assert searched.proved, seed
        found = searched.best.price if searched.best else None
        assert best is None or (found is not None and (found[0] // SECOND, found[1]) <= best), seed
        alike += best == (found and (found[0] // SECOND, found[1]))
    assert asked > 100 and alike > asked * 0.95


def common(seed: int, stages: bool) -> Question:
    """A random question in which some kinds have accelerators in common."""
    asked, random = question(seed, stages), Random(f"common {seed} {stages}")
    number = len(asked.kinds)
    sets = [frozenset(its) for size in range(1, number + 1) for its in combinations(range(number), size)]
    found = tuple(
        Common(its, random.randint(1, sum(asked.kinds[kind].accelerators for kind in its))) for its in sets if random.random() < 0.7
    )
    return replace(asked, common=found)


@pytest.mark.parametrize("stages", [False, True])
def test_the_search_keeps_to_what_kinds_have_in_common(stages: bool) -> None:
    model, differ, refused = cost_model("stages" if stages else "stream"), 0, 0
    for seed in range(120):
        asked = common(seed, stages)
        every = list(priced(replace(asked, common=()), stages))

        def keeps(design: Design, asked: Question = asked) -> bool:
            held = [(block.kind, block.accelerators) for block in design.blocks if block.kind != NO_KIND]
            return all(sum(count for kind, count in held if kind in each.kinds) <= each.most for each in asked.common)

        best = min((cost for cost, design in every if keeps(design)), default=None)
        searched = search(asked, model)
        assert searched.proved and (searched.best.price if searched.best else None) == best, seed
        differ += best != min((cost for cost, _ in every), default=None)
        for _, design in every[:100]:
            assert keeps(design) == (not list(faults(asked, model, design))), (seed, design)
            refused += not keeps(design)
    assert differ > 10 and refused > 100
