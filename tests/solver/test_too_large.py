"""What is too large for the solver is said, not tried: no traceback, no hang, no rounding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Component
from placewright.models.findings.span import Span
from placewright.models.job import WEIGHTED, Job, Link, Preference
from placewright.models.problem import Problem
from placewright.solver import search_scope as too_large
from placewright.solver.sandbox.solve import solve

from .cases import cluster, component, node, problem

RACKS = cluster(*({"count": 8, "rack": rack} for rack in "aaabbbccc"))
SPAN = Span("job.yaml", 7, 9, 1, 8)


def asked(*components: Component, **more: object) -> Problem:
    return replace(problem(RACKS, *components), job=Job(tuple(components), **more))  # type: ignore[arg-type]


def refused(question: Problem) -> tuple[str, str]:
    answer = solve(question)
    (finding,) = answer.findings
    assert (answer.verdict, answer.plan, finding.code) == ("undecided", None, "PW604") and finding.help
    return finding.subject, finding.message


@pytest.mark.parametrize("amount", [1 << 49, 1 << 60, 1 << 63, 1 << 90])
def test_bytes_that_would_not_be_exact_in_the_objective(amount: int) -> None:
    question = asked(component("a", 40, traffic=amount, spans={"traffic": SPAN}), component("b", 20), component("c", 10, traffic=5))
    if amount < 1 << 50:
        assert solve(question).verdict == "optimal"
    else:
        assert refused(question) == (
            "a",
            "not searched: `traffic` of a amounts to sums above 9,007,199,254,740,992, which are not exact",
        )
        assert solve(question).findings[0].span == SPAN


def test_weights_and_links_count_too() -> None:
    parts = component("a", 40, traffic=10), component("b", 20)
    links = (Link("a", "b", weights=1 << 40),)
    assert solve(asked(*parts, links=links)).plan is not None
    heavy = Preference(WEIGHTED, {"rack": 1 << 20})
    assert refused(asked(*parts, links=links, preference=heavy))[1].startswith("not searched: what a sends to b amounts to sums")


@pytest.mark.parametrize("field", ["memory", "offloaded", "host_memory", "cpus"])
def test_amounts_that_64_bits_do_not_hold(field: str) -> None:
    subject, message = refused(problem(RACKS, component("a", 40), replace(component("b", 20), **{field: 1 << 61})))
    assert (subject, message.split(" amounts")[0]) == ("b", f"not searched: `{field}` of b")


def test_amounts_that_are_only_far_too_much_are_impossible() -> None:
    nodes = [node(rank, 8, "H100", 80) for rank in range(3)]
    answer = solve(problem(replace(RACKS, nodes=tuple(nodes)), component("a", 8, gib=900_000_000 * 1024)))
    assert (answer.verdict, answer.findings[0].code) == ("impossible", "PW601")


def test_a_model_that_nobody_could_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(too_large, "MOST_DECISIONS", 8)
    question = problem(RACKS, component("a", 30, tp=2), component("b", 20), component("c", 10))
    assert refused(question) == ("", "not searched: 9 decisions are needed, more than the 8 allowed")
    contiguous = problem(RACKS, component("a", 30, contiguous=True))
    assert refused(contiguous)[1] == "not searched: 72 decisions are needed, more than the 8 allowed"
