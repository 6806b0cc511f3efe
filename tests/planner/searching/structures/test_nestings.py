"""Sets inside one another: all that the relations allow, each once, and no longer than there is time."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

from placewright.models.planning.problem import PlanningProblem, Sharing
from placewright.planner.search.structures import OUTSIDE, BlockStructure, may_nest, may_share, nestings
from sampling import examples

from ...questions import question

NAMES = "abcd"


def related(seed: int) -> PlanningProblem:
    """Four components, some of which have to be inside others, may not share, or may not share in part."""
    random = Random(seed)
    pairs = [pair for pair in product(NAMES, NAMES) if pair[0] != pair[1]]
    some = [frozenset(pair for pair in pairs if random.random() < share) for share in (0.1, 0.1, 0.1)]
    options = {name: question(0, False).options["a"] for name in NAMES}
    alone = frozenset(name for name in NAMES if random.random() < 0.1)
    only = seed % 3 == 0
    return PlanningProblem(
        (), (), options, sharing=Sharing(within=some[0], apart=some[1], whole=some[2], alone=alone, nested=True, only_within=only)
    )


def allowed(asked: PlanningProblem, sets: list[tuple[str, ...]], inside: tuple[int, ...]) -> bool:
    """By what each pair of components comes to."""
    for number in range(len(inside)):
        seen = {number}
        while (number := inside[number]) != OUTSIDE:
            if number in seen:
                return False
            seen.add(number)
    users = BlockStructure(tuple(sets), inside, ()).users
    of = {name: number for number, its in enumerate(sets) for name in its}
    if any(other not in users[of[one]] for one, other in asked.sharing.within):
        return False
    if asked.sharing.only_within and any(not demanded(asked, of, number, inside[number]) for number in range(len(inside))):
        return False
    pairs = {(one, other) for its in users for one, other in combinations(its, 2) if of[one] != of[other]}
    return all(may_share(asked, *pair) and may_nest(asked, *pair) for pair in pairs)


def demanded(asked: PlanningProblem, of: dict[str, int], inner: int, outer: int, steps: int = 4) -> bool:
    """Is it asked that the inner set is in the outer one, or in one of which the same is asked?"""
    if outer == OUTSIDE:
        return True
    others = {of[other] for one, other in asked.sharing.within if of[one] == inner}
    return outer in others or (steps > 0 and any(demanded(asked, of, other, outer, steps - 1) for other in others))


def test_all_that_is_allowed_is_there_once() -> None:
    found = 0
    for seed in range(examples(125)):
        asked = related(seed)
        for sets in ([(name,) for name in NAMES], [("a", "c"), ("b",), ("d",)]):
            numbers = (OUTSIDE, *range(len(sets)))
            every = [inside for inside in product(numbers, repeat=len(sets)) if allowed(asked, sets, inside)]
            flat, nested = list(nestings(asked, sets, False)), list(nestings(asked, sets, True)) if asked.sharing.nested else []
            assert flat + nested == every, seed
            found += len(every)
    assert found > 750
