"""Arrangements of a framework, of which a design keeps to one: compared with everything tried."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.arrangement import FrameworkArrangement, ProcessShape
from placewright.models.planning.design import Design
from placewright.models.planning.option import NO_KIND
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search
from sampling import examples

from .questions import question
from .tried import priced

SAMPLES = examples(50)


def on_accelerators(asked: PlanningProblem) -> list[str]:
    """The components that have accelerators."""
    return [name for name, its in asked.options.items() if its[0].kind != NO_KIND]


def with_ways(seed: int, stages: bool) -> PlanningProblem:
    """A random question of which a design keeps to one of one to three arrangements."""
    asked, random = question(seed, stages), Random(f"ways {seed} {stages}")
    names = on_accelerators(asked)
    pairs = [(one, other) for one in names for other in names if one < other]

    def way(number: int) -> FrameworkArrangement:
        said = {pair: random.choice(("together", "apart", "")) for pair in pairs}
        return FrameworkArrangement(
            f"way {number}", *(frozenset(pair for pair, kind in said.items() if kind == wanted) for wanted in ("together", "apart"))
        )

    return replace(asked, ways=tuple(way(number) for number in range(random.randint(1, 3))))


def kept(asked: PlanningProblem, design: Design) -> list[str]:
    """The names of the arrangements that a design keeps to, said once more."""
    held = {name: {block.components for block in design.blocks if name in block.components} for name in asked.components}
    return [
        way.name
        for way in asked.ways
        if all(held[one] == held[other] for one, other in way.together) and all(not held[one] & held[other] for one, other in way.apart)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_the_best_that_keeps_to_an_arrangement_is_found(stages: bool) -> None:
    model, differ = cost_model("stages" if stages else "stream"), 0
    for seed in range(SAMPLES):
        asked = with_ways(seed, stages)
        every = list(priced(asked, stages))
        best = min((cost for cost, design in every if kept(asked, design)), default=None)
        searched = search(asked, model)
        assert searched.proved, seed
        assert (searched.best.price if searched.best else None) == best, seed
        differ += best != min((cost for cost, _ in every), default=None)
    assert differ > SAMPLES // 5  # the arrangements do decide


def test_the_check_refuses_what_keeps_to_none_and_the_first_is_named() -> None:
    model, refused = cost_model("stream"), 0
    for seed in range(SAMPLES):
        asked = with_ways(seed, False)
        for _, design in list(priced(asked, False))[:100]:
            names = kept(asked, design)
            assert bool(names) == (not list(faults(asked, model, design))), (seed, design)
            way = design.way(asked)
            assert (way.name if way else None) == (names[0] if names else None)
            refused += not names
    assert refused > 100


def with_shapes(seed: int, stages: bool) -> PlanningProblem:
    """A random question of two arrangements of a pair; one of the two has other degrees in each, and all degrees in its options."""
    asked, random = question(seed, stages), Random(f"shapes {seed} {stages}")
    names = on_accelerators(asked)
    if len(names) < 2:
        return asked
    one, other = random.sample(names, 2)
    degrees = (Parallel(1), Parallel(2), Parallel(1, 2))
    options = tuple(replace(each, parallel=random.choice(degrees)) for each in asked.options[one])
    first, second = random.sample(degrees, 2)
    pair, rest = frozenset({random.choice(((one, other), (other, one)))}), [name for name in names if name not in (one, other)]
    further = frozenset((one, name) for name in rest if random.random() < 0.2)
    ways = (
        FrameworkArrangement("shared", pair, shapes={one: ProcessShape(parallel=first)}),
        FrameworkArrangement("apart", apart=pair | further, shapes={one: ProcessShape(parallel=second)}),
    )
    return replace(
        asked, options={**asked.options, one: options}, ways=ways, sharing=replace(asked.sharing, together=frozenset(), within=frozenset())
    )


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_the_best_has_the_degrees_of_its_arrangement(stages: bool) -> None:
    model, differ = cost_model("stages" if stages else "stream"), 0
    for seed in range(2 * SAMPLES):
        asked = with_shapes(seed, stages)
        every = list(priced(asked, stages))
        kept_to = [(cost, design, [way for way in asked.ways if way.name in kept(asked, design)]) for cost, design in every]
        shaped = {
            id(design): all(design.options[name].parallel == its.parallel for name, its in ways[0].shapes.items())
            for _, design, ways in kept_to
            if ways
        }
        best = min((cost for cost, design, ways in kept_to if not asked.ways or shaped.get(id(design))), default=None)
        searched = search(asked, model)
        assert searched.proved, seed
        assert (searched.best.price if searched.best else None) == best, seed
        for _, design, ways in kept_to[:50]:
            assert (not list(faults(asked, model, design))) == (not asked.ways or bool(ways and shaped[id(design)])), (seed, design)
        differ += best != min((cost for cost, _, ways in kept_to if ways), default=None)
    assert differ > SAMPLES // 5  # the degrees do decide


def with_least(seed: int, stages: bool) -> PlanningProblem:
    """A random question of two arrangements of a pair, in the second of which one of them has not too few accelerators."""
    asked, random = question(seed, stages), Random(f"least {seed} {stages}")
    names = on_accelerators(asked)
    if len(names) < 2:
        return asked
    one, other = random.sample(names, 2)
    pair, count = frozenset({random.choice(((one, other), (other, one)))}), random.choice([each.amount for each in asked.options[one]])
    ways = (FrameworkArrangement("shared", pair), FrameworkArrangement("apart", apart=pair, least={one: count + random.randint(0, 1)}))
    return replace(asked, ways=ways[random.randint(0, 1) :], sharing=replace(asked.sharing, together=frozenset(), within=frozenset()))


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_the_best_has_as_many_as_its_arrangement_needs(stages: bool) -> None:
    model, differ = cost_model("stages" if stages else "stream"), 0
    for seed in range(SAMPLES):
        asked, best, best_of_all = with_least(seed, stages), [], []
        for cost, design in priced(asked, stages):
            way = next((way for way in asked.ways if way.name in kept(asked, design)), None)
            enough = way is not None and all(design.options[name].amount >= least for name, least in way.least.items())
            best += [cost] if enough or not asked.ways else []
            best_of_all += [cost] if way or not asked.ways else []
            if len(best_of_all) < 50:
                assert (not list(faults(asked, model, design))) == (enough or not asked.ways), (seed, design)
        searched = search(asked, model)
        assert searched.proved, seed
        assert (searched.best.price if searched.best else None) == min(best, default=None), seed
        differ += min(best, default=None) != min(best_of_all, default=None)
    assert differ > SAMPLES // 10  # the counts do decide


def with_idle(seed: int, stages: bool) -> PlanningProblem:
    """A random question of two arrangements of a pair, in the first of which one of the two is not started."""
    asked, random = question(seed, stages), Random(f"idle {seed} {stages}")
    names = on_accelerators(asked)
    if len(names) < 2:
        return asked
    one, other = random.sample(names, 2)
    pair = frozenset({random.choice(((one, other), (other, one)))})
    ways = (FrameworkArrangement("shared", pair, without=frozenset({one})), FrameworkArrangement("apart", apart=pair))
    memory = random.choice((8, 10, 12))
    kinds = tuple(replace(kind, memory=memory) for kind in asked.kinds)
    turns, resident = asked.memory.turns, asked.memory.resident
    if random.random() < 0.5:  # what does its work has a phase of its own, so that it is beside others of its phase for that work alone
        turns, resident = {**dict.fromkeys(names, ("q",)), other: ("p",)}, frozenset[str]()
    return replace(
        asked,
        kinds=kinds,
        ways=random.choice((ways, ways[::-1], ways[:1])),
        sharing=replace(asked.sharing, together=frozenset(), within=frozenset()),
        memory=replace(asked.memory, turns=turns, resident=resident),
    )


@pytest.mark.slow
@pytest.mark.parametrize("stages", [False, True])
def test_what_is_not_started_needs_no_memory(stages: bool) -> None:
    model, differ = cost_model("stages" if stages else "stream"), 0
    for seed in range(2 * SAMPLES):
        asked = with_idle(seed, stages)
        its = [(cost, design) for cost, design in priced(asked, stages) if not asked.ways or kept(asked, design)]
        best, searched = min((cost for cost, _ in its), default=None), search(asked, model)
        assert searched.proved, seed
        assert (searched.best.price if searched.best else None) == best, seed
        assert all(not list(faults(asked, model, design)) for _, design in its[:50]), seed
        started = replace(asked, ways=tuple(replace(way, without=frozenset()) for way in asked.ways))
        refused = [design for _, design in its if list(faults(started, model, design))]
        differ += len(refused) == len(its) > 0
    assert differ > SAMPLES // 20  # there is a design only since it is not started
