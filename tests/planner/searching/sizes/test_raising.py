"""How far a maximum is raised, against every choice of every set: of many chains through a set, none is forgotten."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Iterator, NamedTuple

from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, PlanningProblem, Sharing, Task, Workflow
from placewright.planner.costs import cost_model
from placewright.planner.search.choices import BlockChoices
from placewright.planner.search.domains import Domains, Narrowing, raised
from placewright.planner.search.segmentations import segmentations
from placewright.planner.search.sizing import Greatest, Sizing
from placewright.planner.search.structures import OUTSIDE, BlockStructure

SEEDS = range(400)


class Case(NamedTuple):
    """A maximum of a structure, of which some choices are left, and so many accelerators."""

    narrowing: Narrowing
    domains: Domains
    each: Greatest
    most: int


def branched(random: Random) -> PlanningProblem:
    """Five components in a pipeline with many chains, on six accelerators."""
    edges = tuple(Edge(one, other) for one in range(5) for other in range(one + 1, 5) if random.random() < 0.6)
    options = {
        name: tuple(Option(0, count, Parallel(), (random.randint(1, 40),)) for count in range(1, 4) if count == 1 or random.random() < 0.7)
        for name in "abcde"
    }
    return PlanningProblem(
        (AcceleratorKind("", 6),), tuple(map(Task, "abcde")), options, Workflow(edges), sharing=Sharing(nested=random.random() < 0.3)
    )


def structure(random: Random, asked: PlanningProblem) -> BlockStructure:
    """Most components by themselves; at times two together, or one inside another."""
    order = random.sample(asked.components, len(asked.components))
    sets = tuple((name,) for name in order) if random.random() < 0.6 else ((order[0], order[1]), *((name,) for name in order[2:]))
    inside = tuple(0 if number == len(sets) - 1 and asked.sharing.nested else OUTSIDE for number in range(len(sets)))
    users = BlockStructure(sets, inside, ()).users
    return BlockStructure(sets, inside, random.choice(list(segmentations(asked, cost_model("stream"), users))))


def cases() -> Iterator[Case]:
    """Of random questions the structure, some of the choices and the accelerators as they come."""
    for seed in SEEDS:
        random = Random(seed)
        asked = branched(random)
        narrowing = Narrowing(Sizing(asked, cost_model("stream"), structure(random, asked), BlockChoices(asked, 1)))
        domains = narrowing.start()
        domains.left = [sorted(random.sample(its, random.randint(1, len(its)))) for its in domains.left]
        for each in narrowing.sizing.greatest:
            yield Case(narrowing, domains, each, random.randint(3, 6))


def is_crossed(case: Case) -> bool:
    """Is a part of a set in several sums, beside others that are not equally long?"""
    least = [[min(loads[place] for place in its) for loads in all_] for its, all_ in zip(case.domains.left, case.narrowing.loads)]
    beside: dict[tuple[int, int], set[int]] = {}
    for its in case.each.sums:
        for number, part in its:
            beside.setdefault((number, part), set()).add(sum(least[one][other] for one, other in its) - least[number][part])
    return any(len(its) > 1 for its in beside.values())


def value_of_each(case: Case, places: tuple[int, ...]) -> list[int]:
    """The sums with these choices."""
    loads = case.narrowing.loads
    return [sum(loads[number][part][places[number]] for number, part in its) for its in case.each.sums]


def each_that_fits(case: Case) -> Iterator[tuple[int, ...]]:
    """Every choice of every set with so many accelerators at most."""
    accelerators, roots = case.narrowing.accelerators, case.narrowing.sizing.roots
    for places in product(*case.domains.left):
        if sum(accelerators[number][places[number]] for number in roots) <= case.most:
            yield places


def alone(case: Case, places: tuple[int, ...]) -> int:
    """The greatest sum, if of each but one set is as fast as it can be: by the definition, sum by sum and set by set."""
    loads, left = case.narrowing.loads, case.domains.left
    found = 0
    for its in case.each.sums:
        for slow in (None, *(number for number, _ in its if number in case.narrowing.sizing.roots)):
            found = max(
                found,
                sum(
                    loads[number][part][places[number]] if number == slow else min(loads[number][part][place] for place in left[number])
                    for number, part in its
                ),
            )
    return found


def test_the_slowest_set_is_as_slow_as_the_definition_says() -> None:
    """Beside each part of a set only its longest chain is looked at: with all of them there is no other value."""
    several = 0
    for case in cases():
        found = raised(case.narrowing, case.domains, case.each, case.most)
        assert (found and found[0]) == min((alone(case, places) for places in each_that_fits(case)), default=None)
        several += is_crossed(case)
    assert several > 100


def test_nothing_that_fits_is_below_what_a_maximum_is_raised_to() -> None:
    higher = 0
    for case in cases():
        found = raised(*case)
        best = min((max(value_of_each(case, places)) for places in each_that_fits(case)), default=None)
        assert (found is None) == (best is None)
        if found is not None and best is not None:
            assert found[0] <= best
            higher += found[0] == best
    assert higher > 200, "and it is often all of it"
