"""What a rule says of itself to a person: the demand in the user's words, with a number about the cluster."""

from __future__ import annotations

import re

import pytest
from placewright.models.component import UNBOUNDED
from placewright.models.problem import AMOUNT, Demand, Problem
from placewright.solver.rules import RULES

from .cases import cluster, component, problem
from .parity_cases.every import CASES

WHERE = cluster({"count": 8, "model": "H100", "gib": 80}, {"count": 4, "model": "H100", "gib": 40}, big=(0,))
QUESTION = problem(
    WHERE,
    component("actor", 8, tp=4, pp=2, gib=50, node_groups=("big",), accelerator_model="H100", per_process=2),
    component("rollout", 4, 8, contiguous=True, tp=2, stride=2, gib=20, phases=("generate",)),
    component("reward", 1),
    together="rollout+actor",
    apart="reward+actor",
)


def clauses(question: Problem = QUESTION) -> set[str]:
    return {rule.explain(question, subject).text for rule in RULES for subject in rule.subjects(question)}


def test_an_amount_without_an_end_is_told_by_its_least() -> None:
    assert "a asks for at least 8 accelerators (the cluster has 12)" in clauses(problem(WHERE, component("a", 8, UNBOUNDED)))


@pytest.mark.parametrize(
    "text",
    [
        "actor asks for 8 accelerators (the cluster has 12)",
        "rollout asks for 4-8 accelerators (the cluster has 12)",
        "the accelerators of actor must be a multiple of 8 (tp 4, pp 2, 2 a process)",
        "the cluster has 12 free accelerators",
        "a process of actor needs 2 of one node (the largest node has 8)",
        "a tp group of actor needs 4 accelerators of one node (the largest node has 8)",
        "rollout uses the accelerators of actor",
        "reward shares no accelerator with actor",
        "rollout must be one solid range of 4 ranks (the longest free range has 12)",
        "rollout interleaves 2 groups in blocks of 4 (the largest node has 8)",
        "actor may use only node group `big` (1 node)",
        "actor may use only H100 (the cluster has 12)",
        "actor 50 GiB + rollout 20 GiB: 70 GiB must fit on one accelerator (8 have that much)",
    ],
)
def test_the_words_of_each_rule(text: str) -> None:
    assert text in clauses()


def test_every_clause_stands_on_demands_that_were_made_and_says_a_number() -> None:
    of_names = ("PW204", "PW207", "PW211", "PW219")  # who shares with whom, and in which order: there is no number to say
    for name, question in CASES.items():
        demands = set(question.demands)
        for rule in RULES:
            for subject in rule.subjects(question):
                clause = rule.explain(question, subject)
                given = {demand for demand in clause.demands if "+" not in demand.component and question[demand.component].runs is not None}
                assert set(clause.demands) - given <= demands, (name, rule.code, clause)
                assert clause.text and (re.search(r"\d", clause.text) or rule.code in of_names), (name, clause.text)


def test_a_demand_that_is_given_up_is_not_made_any_more() -> None:
    for demand in QUESTION.demands:
        left = set(QUESTION.without(demand).demands)
        assert left == set(QUESTION.demands) - ({demand} if demand.field != AMOUNT else set())
    nothing = QUESTION.without(*QUESTION.demands)
    assert {demand.field for demand in nothing.demands} == {AMOUNT}
    assert Demand("rollout+actor", "colocated") in QUESTION.demands
