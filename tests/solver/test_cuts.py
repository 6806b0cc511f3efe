"""A cut removes no value; one that is too tight is noticed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.component import Spread
from placewright.models.job import Link
from placewright.models.problem import Problem
from placewright.solver import compile as compile_module
from placewright.solver import cuts
from placewright.solver.cuts import CUTS, Cut, domains_of_subsets, subset_rows
from placewright.solver.layout.layout import Layout
from placewright.solver.model.engine import Status, run
from placewright.solver.rules import RULES
from placewright.solver.searching.search import solve

from . import parity
from .cases import cluster, component, problem
from .parity_cases.every import CASES
from .parity_cases.random_problems import random_problem
from .weighed import weighed

RACKS = problem(
    cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}, {"count": 1, "rack": "c"}),
    component("a", 2),
    component("b", 2),
    component("c", 1),
)


@pytest.mark.slow
@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
def test_a_cut_removes_no_value(cut: Cut) -> None:
    source = random.Random(11)
    for whole in (RACKS, *CASES.values(), *(random_problem(source, most=400) for _ in range(30))):
        for question in whole.alternatives():
            assert parity.encoded(question, RULES, [cut]) == parity.encoded(question, RULES)


def test_shares_of_colocated_components_hold_each_of_all_that_there_is() -> None:
    """Half of 4 in a rack for one of them and half for the other is 2 in a rack, not half of that half."""
    racks = cluster({"count": 3, "rack": "a"}, {"count": 3, "rack": "b"}, {"count": 1, "rack": "c"})
    half = (Spread("rack", 1, 50),)
    question = problem(racks, component("a", 4, spread=half, traffic=1), component("b", 4, spread=half), together="b+a")
    assert parity.encoded(question, RULES, CUTS) == parity.encoded(question, RULES) != set()
    plan = solve(question).plan
    assert plan is not None and plan.objective == plan.bound == 1


def test_what_must_be_in_several_racks() -> None:
    names = {("+".join(bundle.name for bundle in members), fewest) for members, fewest in subset_rows(Layout(RACKS), "rack")}
    assert names == {("a+b", 2), ("a+c", 2), ("b+c", 2), ("a+b+c", 3)}  # posted only where that is more than one each
    wide = problem(RACKS.cluster, component("a", 3), component("b", 2))
    assert {("+".join(bundle.name for bundle in members), fewest) for members, fewest in subset_rows(Layout(wide), "rack")} == {
        ("a", 2),
        ("a+b", 3),
    }


def test_a_cut_that_is_too_tight_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fewest = cuts.fewest_of
    monkeypatch.setattr(cuts, "fewest_of", lambda rooms, demand: fewest(rooms, demand) + 1)
    assert parity.encoded(RACKS, RULES, [domains_of_subsets]) < parity.encoded(RACKS, RULES)


def linked(source: random.Random) -> Problem:
    """Components with links of weights from one to another, in chains, with several senders and in cycles, over some racks."""
    racks = cluster(*({"count": source.choice([2, 3, 4]), "rack": source.choice("abcd")} for _ in range(source.choice([4, 5]))))
    parts = [component(name, source.choice([1, 2, 2, 3]), traffic=source.choice([0, 0, 3])) for name in "abcde"[: source.choice([3, 4, 5])]]
    names = [part.name for part in parts]
    ends = {tuple(source.sample(names, 2)) for _ in range(source.choice([1, 2, 3, 4]))}
    question = problem(racks, *parts)
    links = tuple(Link(sender, receiver, weights=source.choice([1, 4])) for sender, receiver in sorted(ends))
    return replace(question, job=replace(question.job, links=links))


def optimum(question: Problem) -> tuple[Status, int]:
    outcome = run(weighed(question), 20.0, seed=1)
    return outcome.status, outcome.objective


def test_what_is_best_is_the_same_with_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside few bundles and beside many: the variables of links are free upwards, so that only the optimum shows a row too tight."""
    source, cut = random.Random(3), 0
    for question in (linked(source) for _ in range(25)):
        with monkeypatch.context() as without:
            without.setattr(compile_module, "CUTS", ())
            expected = optimum(question)
        assert expected[0] in (Status.OPTIMAL, Status.INFEASIBLE)
        for most in (0, 1, 7):
            monkeypatch.setattr(cuts, "MOST_BUNDLES", most)
            cut += len(list(subset_rows(Layout(question), "rack")))
            assert optimum(question) == expected, (most, question)
    assert cut > 50


def test_a_sender_that_is_counted_in_no_domain_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links that close a cycle are left out: else each of two components would count only without the other."""
    question = problem(RACKS.cluster, component("a", 2), component("b", 2))
    links = (Link("a", "b", weights=1), Link("b", "a", weights=1))
    senders = cuts.find_senders(Layout(replace(question, job=replace(question.job, links=links))), "rack")
    assert [(receiver.name, [sender.name for sender in by]) for receiver, by in senders.items()] == [("b", ["a"])]
