"""A component of which more is asked than a number, around given ranks: compared with every placement of small problems."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from random import Random
from typing import Any

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import Component, Keep, Pin, Spread
from placewright.models.job import WEIGHTED, Link, Preference
from placewright.models.placements.plan import OPTIMAL
from placewright.models.problem import Problem
from placewright.solver.objectives.tiers import tiers
from placewright.solver.objectives.traffic import BytesAcross
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem
from .every_placement import decided, every_placement, holds, on

REPLICA_IN_RACK = (Keep("replica", "rack"),)


def test_each_demand_is_kept_around_what_is_given() -> None:
    where = cluster({"count": 4, "numa": 2}, {"count": 4, "numa": 2})
    for more in (
        {"keep": (Keep("component", "node"),)},
        {"keep": (Keep("replica", "node"),), "pp": 2},
        {"keep": (Keep("tp", "numa"),)},
        {"pins": (Pin(range(2, 4), (1,)),)},
        {"contiguous": True, "stride": 2},
        {"contiguous": True, "any_order": True},
    ):
        question = problem(where, component("a", 4, tp=2, **more), on("b", (0, 1)), within="b+a")
        answer = solve(question)
        assert answer.plan is not None and holds(question, answer.plan.assignment), more


def test_two_ranges_around_given_ranks_that_share_nothing() -> None:
    parts = component("a", 4, contiguous=True), component("m", 4, contiguous=True), on("b", (0, 3)), on("c", (1, 1))
    answer = solve(problem(cluster({"count": 4}, {"count": 4}), *parts, within="b+a c+m", apart="a+m"))
    assert answer.plan is not None
    assert sorted(answer.plan.assignment.accelerators("m")) == [(1, index) for index in range(4)]


def test_no_set_of_accelerators_holds_what_is_pinned_elsewhere() -> None:
    question = problem(cluster({"count": 2}, {"count": 2}), component("a", 1, pins=(Pin(range(1), (1,)),)), on("b", (0, 1)), within="b+a")
    answer = solve(question)
    assert answer.verdict == IMPOSSIBLE


def test_of_what_lies_within_two_none_around_the_other_nothing_is_said() -> None:
    parts = component("a", 4), component("m", 4), on("b", (0, 1)), component("c", 2)
    (finding,) = solve(problem(cluster({"count": 8}), *parts, within="b+a c+a c+m")).findings
    assert finding.code == "PW604" and finding.help == "put one of them inside the other, such as `within: m` of a"


@pytest.mark.parametrize(
    ("racks", "on_nodes", "more"),
    [
        (8, 32, {"least": 32, "tp": 2, "spread": (Spread("rack", 2, 60),)}),
        (11, 1, {"least": 72, "tp": 8, "pp": 3, "keep": REPLICA_IN_RACK}),
    ],
)
def test_sets_over_many_nodes_are_found_soon(racks: int, on_nodes: int, more: dict[str, Any]) -> None:
    """Where something lies on every node no fewer is listed than that takes; where racks are mixed, one is filled before the next."""
    nodes = ({"count": 8, "rack": f"rack-{number % racks}"} for number in range(32))
    lone, inner = component("a", most=192, **more), on("b", *((node, 0) for node in range(on_nodes)))
    question = problem(cluster(*nodes), lone, inner, within="b+a")
    answer = solve(question)
    assert answer.plan is not None and holds(question, answer.plan.assignment)


def question_of(seed: int) -> Problem:
    """A small problem with given components inside of open ones of which more is asked than a number."""
    random = Random(seed)
    sizes = random.choice([(4,), (2, 2), (3, 2), (2, 3), (1, 2, 2)])
    where = cluster(*({"count": count, "rack": random.choice("rs"), "numa": 2 if count % 2 == 0 else 1} for count in sizes))
    every = [(node, index) for node, count in enumerate(sizes) for index in range(count)]
    random.shuffle(every)

    def asked(name: str) -> Component:
        tp = random.choice((1, 1, 2))
        least = tp * random.choice((1, 1, 2))
        each = component(name, least, random.choice((least, least, len(every) // tp * tp)), tp=tp)
        demand = random.choice(("none", "keep", "keep", "numa", "spread", "pin", "pin", "range", "stride", "away"))
        if demand == "keep":
            return replace(each, keep=(Keep(random.choice(("tp", "component")), random.choice(("rack", "node"))),))
        if demand == "numa":
            return replace(each, keep=(Keep("tp", "numa"),))
        if demand == "spread":
            return replace(each, spread=(Spread(random.choice(("rack", "node")), 2, random.choice((50, 75, 100))),))
        if demand == "pin":
            return replace(each, pins=(Pin(range(random.choice((0, 1))), (0,)), Pin(range(1, 2), (random.randrange(len(sizes)),))))
        if demand in ("range", "stride"):
            return replace(each, contiguous=True, stride=2 if demand == "stride" else 1)
        return replace(each, excluded=(0,) if demand == "away" else ())

    parts = [asked("a"), *([asked("m")] if random.random() < 0.6 else [])]
    parts.append(on("b", *(every.pop() for _ in range(random.choice((1, 1, 2))))))
    if random.random() < 0.5:
        parts.append(on("c", every.pop()))
    names = {each.name for each in parts}
    words = {"within": ["b+a"]}
    for one, other in combinations(sorted(names), 2):
        if (one, other) != ("a", "b") and random.random() < 0.4:
            word = random.choice(("within", "within", "apart", "together", "either"))
            words.setdefault(word, []).append(random.choice((f"{one}+{other}", f"{other}+{one}")))
    return problem(where, *parts, **{word: " ".join(pairs) for word, pairs in words.items()})


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, 50))
def test_as_every_placement_says(start: int) -> None:
    seen = Counter[str]()
    for seed in range(start, start + 50):
        seen[decided(question_of(seed), seed).verdict] += 1
    assert seen[OPTIMAL] >= 5 and seen[IMPOSSIBLE] >= 10 and set(seen) == {OPTIMAL, IMPOSSIBLE}, seen


def weighed(seed: int) -> Problem:
    """The same with decided amounts, each node in a rack of its own, where it is said what it costs that something crosses racks."""
    random, question = Random(f"weighed {seed}"), question_of(seed)

    def sized(each: Component) -> Component:
        count = each.least if each.runs is not None else random.randint(1, each.most // each.parallel.tp) * each.parallel.tp
        return replace(each, least=count, most=count, traffic=random.choice((0, 5, 30)))

    parts = tuple(map(sized, question.components))
    nodes = tuple(replace(each, topology={"rack": each.name}) for each in question.cluster.nodes)
    names = [each.name for each in parts]
    links = tuple(
        Link(one, other, weights=random.choice((0, 10)), stream=random.choice((0, 3)))
        for one, other in permutations(names, 2)
        if random.random() < 0.4
    )
    preference = Preference(WEIGHTED, {"zone": 0, "rack": 7, "nvlink_domain": 0}, bytes_first=True)
    job = replace(question.job, components=parts, links=links, preference=preference)
    return replace(question, cluster=replace(question.cluster, nodes=nodes), job=job)


def crossing(seed: int) -> tuple[int, int, int] | None:
    """(what is proved, the least of every placement, that of the answer) of what crosses; None without a placement or anything to cross."""
    question = replace(weighed(seed), explained=False)
    answer = solve(question)
    if answer.plan is None or not any(isinstance(term, BytesAcross) for tier in tiers(question)[:1] for term, _ in tier.members):
        return None
    first = tiers(question)[0]
    least = min(first.value(question, each) for each in every_placement(question) if holds(question, each))
    proved = sum(term.weight * term.bound for term in answer.plan.terms if term.tier == 0) // first.scale
    return proved, least, first.value(question, answer.plan.assignment)


@pytest.mark.parametrize("start", range(0, 160, 80))
def test_as_little_crosses_as_in_any_placement(start: int) -> None:
    seen = 0
    for seed in range(start, start + 80):
        if its := crossing(seed):
            assert its[0] == its[1] == its[2], seed
            seen += its[1] > 0
    assert seen >= 4
