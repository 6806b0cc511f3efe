"""A merged problem suggests domains; what is best stays the same, and a limit below the time to build a model ends the search."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.component import Component, Keep
from placewright.models.job import Link
from placewright.models.problem import Problem
from placewright.solver.layout.layout import Layout
from placewright.solver.searching import search, tiers
from placewright.solver.searching.merging import find_domains, merge_receivers

from ..cases import cluster, component, problem

RACKS = cluster(*({"count": 4, "rack": rack} for rack in "aabbcc"))


def linked(question: Problem, *links: Link) -> Problem:
    return replace(question, job=replace(question.job, links=links))


def sends(source: str, target: str) -> Link:
    return Link(source, target, weights=1)


def names_of(question: Problem) -> list[tuple[str, int, int]] | None:
    """Components of the merged problem with their accelerators and tensor parallel size; None if it is not merged."""
    merged = merge_receivers(Layout(question))
    return merged and [(part.name, part.least, part.parallel.tp) for part in merged.components]


def test_receivers_join_their_senders_from_the_last_one_on() -> None:
    chain = problem(RACKS, component("a", 4, tp=2), component("b", 2), component("c", 3))
    assert names_of(linked(chain, sends("a", "b"), sends("b", "c"))) == [("a", 9, 1)]
    assert names_of(chain) is None


@pytest.mark.parametrize(
    "receiver",
    [
        component("b", 2, keep=(Keep("component", "rack"),)),
        component("b", 2, 3),
        component("b", 9, traffic=1),
        component("b", 22),
        component("b", 2, accelerator_model="other"),
    ],
)
def test_a_receiver_stays_if_more_than_its_count_constrains_it(receiver: Component) -> None:
    assert names_of(linked(problem(RACKS, component("a", 4, tp=2), receiver), sends("a", "b"))) is None


def test_a_sender_of_two_links_to_a_component_keeps_it() -> None:
    question = problem(RACKS, component("a", 4), component("b", 2), component("c", 2))
    assert names_of(linked(question, sends("a", "b"), sends("c", "b"))) is None


def families(source: random.Random) -> Problem:
    """Senders with a few receivers each, in racks that no two sets fill."""
    racks = cluster(*({"count": 8, "rack": f"r{rack}"} for rack in range(4) for _ in range(source.choice([2, 3]))))
    parts, links = [], []
    for root in range(3):
        parts.append(component(f"a{root}", source.choice([6, 10, 14]), traffic=source.choice([0, 3])))
        for leaf in range(2):
            parts.append(component(f"b{root}{leaf}", source.choice([2, 4, 8]), tp=source.choice([1, 2])))
            links.append(sends(f"a{root}", f"b{root}{leaf}"))
    return linked(problem(racks, *parts), *links)


def test_what_is_best_is_the_same_without_a_merged_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    source, suggestions = random.Random(5), []
    monkeypatch.setattr(tiers, "SMALL", 0)
    monkeypatch.setattr(
        tiers, "find_domains", lambda *layout_and_values: suggestions.append(find_domains(*layout_and_values)) or suggestions[-1]
    )
    for question in (families(source) for _ in range(6)):
        plan = search.solve(question, limit=20.0).plan
        with monkeypatch.context() as without:
            without.setattr(tiers, "merge_receivers", lambda layout: None)
            expected = search.solve(question, limit=20.0).plan
        assert plan is not None and expected is not None
        assert plan.objective == plan.bound == expected.objective
    assert any(len(set(suggestion.values())) == 2 for suggestion in suggestions)


def test_no_model_is_built_that_the_limit_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    question = families(random.Random(5))
    monkeypatch.setattr(tiers, "A_COUNT", 1.0)
    monkeypatch.setattr(tiers, "compile", lambda *problem_and_layout: pytest.fail("a model is built"))
    answer = search.solve(question, limit=1.0)
    assert answer.verdict == "feasible" and answer.how == "greedy"
