"""What must not matter does not: names, order, seeds, presolve, symmetry; and what can only help, helps."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Iterator

import pytest
from placewright.models.component import Relation
from placewright.models.problem import Problem
from placewright.solver.model.engine import Status, run
from placewright.solver.refuting import certificate
from placewright.solver.searching import search as one_choice
from placewright.solver.searching.search import solve
from sampling import examples

from .cases import node
from .parity_cases.random_problems import random_problem
from .weighed import weighed

COUNT = examples(25)


def questions(seed: int) -> Iterator[Problem]:
    source = random.Random(seed)
    for _ in range(COUNT):
        yield random_problem(source, most=20_000)


def verdict(question: Problem) -> tuple[str, int | None]:
    """Impossible or optimal, and the objective."""
    answer = solve(question)
    return answer.verdict, answer.plan.objective if answer.plan else None


def renamed(question: Problem) -> Problem:
    """The same with other names, the components in reverse order."""
    names = {component.name: f"z{component.name}" for component in question.components}
    components = tuple(replace(component, name=names[component.name]) for component in reversed(question.components))
    relations = tuple(Relation(r.kind, tuple(names[name] for name in r.components)) for r in question.job.relations)
    shares = tuple(replace(share, component=names[share.component]) for share in question.job.shares)
    models = {names[name]: use for name, use in question.job.models.items()}
    return replace(question, job=replace(question.job, components=components, relations=relations, shares=shares, models=models))


def test_names_and_order_of_components_do_not_matter() -> None:
    for question in questions(1):
        assert verdict(renamed(question)) == verdict(question)


def test_greedy_and_search_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [verdict(question) for question in questions(2)]
    monkeypatch.setattr(one_choice, "greedy", lambda layout: None)
    assert [verdict(question) for question in questions(2)] == expected


def test_counting_rows_and_search_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [verdict(question)[0] for question in questions(3)]
    assert "impossible" in expected
    monkeypatch.setattr(certificate, "counting_row", lambda question: None)
    assert [verdict(question)[0] for question in questions(3)] == expected


def test_seeds_and_presolve_do_not_matter() -> None:
    for question in (each for any_ in questions(4) for each in any_.alternatives()):
        outcomes = [run(weighed(question), 10.0, seed, presolve) for seed in (1, 7) for presolve in (True, False)]
        assert len({(outcome.status, outcome.objective) for outcome in outcomes}) == 1
        assert outcomes[0].status in (Status.OPTIMAL, Status.INFEASIBLE)


@pytest.mark.slow
def test_the_same_question_twice_gives_the_same_plan() -> None:
    for question in questions(5):
        first, second = solve(question), solve(question)
        assert first.plan is None or second.plan is None or first.plan.digest == second.plan.digest
        assert first.findings == second.findings


@pytest.mark.slow
def test_another_free_node_makes_nothing_impossible() -> None:
    for question in questions(6):
        more = replace(question.cluster, nodes=(*question.cluster.nodes, node(len(question.cluster.nodes), 4, "X", 80, "a")))
        if verdict(question)[0] != "impossible":
            assert verdict(replace(question, cluster=more))[0] != "impossible"


def test_another_component_makes_nothing_possible() -> None:
    for question in questions(7):
        more = (*question.components, replace(question.components[0], name="extra", least=1, most=1, contiguous=False, stride=1))
        if verdict(question)[0] == "impossible":
            assert verdict(replace(question, job=replace(question.job, components=more)))[0] == "impossible"


def test_a_demand_that_is_given_up_makes_nothing_impossible() -> None:
    for question in questions(8):
        if verdict(question)[0] != "impossible":
            for demand in question.demands:
                # Apart they need more room; an amount may not divide its partner's. More processes reserve more CPUs, and divide shares otherwise.
                shared = {share.component for share in question.shares}
                more = demand.field == "per_process" and (question[demand.component].cpus or demand.component in shared)
                if demand.field not in ("colocated", "subset", "amount") and not more:
                    assert verdict(question.without(demand))[0] != "impossible", (demand, question)
