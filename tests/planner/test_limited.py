"""What placing leaves of the designs: the search keeps to it, and finds the best of what is left."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from random import Random

import pytest
from placewright.models.planning.arrangement import CountConstraint, FrameworkArrangement
from placewright.models.planning.design import Design, list_nested
from placewright.models.planning.option import NO_KIND, Area, Option, RefusedCount, Use
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search

from .questions import question
from .tried import priced

SAMPLES = 60


def limited(seed: int, stages: bool) -> PlanningProblem:
    """A random question with groups on nodes, areas, processes beside processes and designs that are barred."""
    asked, random = question(seed, stages), Random(f"limited {seed} {stages}")
    groups = {name: random.choice((1, 1, 2, 3)) for name in asked.components}

    def sized(option: Option) -> int:
        return random.choice([each for each in (1, 2, 3) if option.amount % each == 0])

    options = {
        name: tuple(
            replace(each, group=groups[name] if each.amount % groups[name] == 0 else 1, processes=each.amount // sized(each))
            for each in its
        )
        for name, its in asked.options.items()
    }
    names = [name for name, its in options.items() if its[0].kind != NO_KIND]
    areas = []
    for kind, its in enumerate(asked.kinds):
        if random.random() < 0.6:
            inside = frozenset(name for name in names if random.random() < 0.6)
            areas.append(
                Area(kind, inside, {size: random.randint(0, its.accelerators) // size * size for size in random.sample((1, 2, 3), 2)})
            )
    pairs = [(one, other) for one in names for other in names if one != other]
    barred = []
    for _ in range(random.choice((0, 1, 3))):
        its = random.sample(names, min(len(names), random.choice((1, 2, 2, 3))))
        uses = {}
        for name in its:
            option = random.choice(options[name])
            parallel = option.parallel if random.random() < 0.7 else None
            uses[name] = Use(option.kind, option.amount, parallel, random.random() < 0.5)
        inside_pairs = [pair for pair in pairs if set(pair) <= set(its) and random.random() < 0.3]
        barred.append(RefusedCount(uses, frozenset(inside_pairs)))
    filling = frozenset(random.sample(names, min(2, len(names)))) if random.random() < 0.15 else frozenset()
    together = [of_counts(random, pair) for pair in random.sample(pairs, min(2, len(pairs)))] if random.random() < 0.4 else []
    ways = tuple(replace(way, multiples=tuple(together)) for way in asked.ways or (FrameworkArrangement("any"),))
    return replace(
        asked,
        ways=ways,
        options=options,
        areas=tuple(areas),
        barred=tuple(barred),
        sharing=replace(
            asked.sharing,
            apart=asked.sharing.apart | frozenset(pair for pair in pairs if filling.issuperset(pair)),
            not_fewer=frozenset(random.sample(pairs, 1)) if pairs and random.random() < 0.3 else frozenset(),
            whole=frozenset(random.sample(pairs, 1)) if pairs and random.random() < 0.3 else frozenset(),
            filling=(filling,) if filling else (),
            in_step=frozenset(random.sample(pairs, 1)) if pairs and random.random() < 0.5 else frozenset(),
        ),
    )


def of_counts(random: Random, pair: tuple[str, str]) -> CountConstraint:
    """Counts of a pair that go together."""
    return CountConstraint(*pair, random.choice((1, 1, 2)), equal=random.random() < 0.3)


def keeps(asked: PlanningProblem, design: Design) -> bool:
    """The limits, said once more."""
    uses = {name: frozenset(design.blocks_of(name)) for name in asked.components}
    for area in asked.areas:
        for size, most in area.rooms.items():
            used = 0
            for block in design.blocks:
                widest = max(block.components, key=lambda name: len(uses[name]))
                around = [name for name in block.components if uses[name] == uses[widest]]
                if block.kind == area.kind and set(around) & area.components:
                    used += block.accelerators * (lcm(*(design.options[name].group for name in around)) % size == 0)
            if used > most:
                return False
    for one, other in asked.sharing.whole:
        if uses[one] != uses[other] and uses[one] & uses[other]:
            return False
    if any(design.options[one].processes < design.options[other].processes for one, other in asked.sharing.not_fewer):
        return False
    for one, other in asked.sharing.in_step:
        large = design.options[other].amount // design.options[other].processes
        if uses[one] & uses[other] and design.options[one].amount % large:
            return False
    for pair in asked.ways[0].multiples:
        mine, its = design.options[pair.component].amount, design.options[pair.partner].amount
        if pair.equal and mine != its:
            continue
        if mine % pair.step or (mine > its and (mine % its or its % pair.step)):
            return False
    for names in asked.sharing.filling:
        if sum(block.accelerators for block in design.blocks if names & set(block.components)) < sum(
            its.accelerators for its in asked.kinds
        ):
            return False
    for each in asked.barred:
        met = all(
            option.kind == use.kind and (use.parallel is None or option.parallel == use.parallel)
            and (option.amount >= use.amount if use.or_more else option.amount == use.amount)
            for name, use in each.uses.items()
            for option in (design.options[name],)
        )  # fmt: skip
        if met and list_nested(design, frozenset(each.uses)) == each.inside:
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_the_best_of_what_is_left_is_found(stages: bool) -> None:
    model, differ = cost_model("stages" if stages else "stream"), 0
    for seed in range(SAMPLES):
        asked = limited(seed, stages)
        every = list(priced(asked, stages))
        best = min((cost for cost, design in every if keeps(asked, design)), default=None)
        searched = search(asked, model)
        assert searched.proved, seed
        assert (searched.best.price if searched.best else None) == best, seed
        differ += best != min((cost for cost, _ in every), default=None)
        if searched.best:
            assert not list(faults(asked, model, searched.best.design)), seed
            assert price(asked, model, searched.best.design) == best
    assert differ > SAMPLES // 5  # the limits do decide


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_the_check_refuses_what_the_limits_refuse(stages: bool) -> None:
    model, refused = cost_model("stages" if stages else "stream"), 0
    for seed in range(SAMPLES):
        asked = limited(seed, stages)
        for _, design in list(priced(asked, stages))[:200]:
            assert keeps(asked, design) == (not list(faults(asked, model, design))), (seed, design)
            refused += not keeps(asked, design)
    assert refused > 100
