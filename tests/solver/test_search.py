"""What `solve` promises: the optimum, proved; or the reason why not; always the same answer."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import pytest
from placewright.models.answer import Answer
from placewright.models.component import Parallel, Spread
from placewright.models.findings.finding import Finding, Severity
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import OPTIMAL, VERIFIED
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.searching import search as one_choice
from placewright.solver.searching.search import solve
from sampling import examples

from . import parity
from .cases import cluster, component, given, problem
from .judging import Judge
from .parity_cases.random_problems import random_problem


def brute_force(question: Problem) -> int | None:
    """The best objective of any Assignment that passes every check; None if none does."""
    judge = Judge(question)
    values = (parity.objective(question, assignment) for assignment in parity.assignments(question) if not judge.refuses(assignment))
    return min(values, default=None)


def errors(question: Problem, assignment: Assignment) -> list[Finding]:
    """What makes an Assignment wrong; warnings of given ranks do not."""
    return [finding for finding in check(question, assignment) if finding.severity is Severity.ERROR]


def is_answered(question: Problem, best: int | None) -> Answer:
    """The answer to a question whose best objective is known; None if it is impossible."""
    answer = solve(question)
    if best is None:
        assert answer.verdict == "impossible", answer
        assert answer.findings[0].code == "PW601" or answer.how == "given"
    else:
        assert answer.plan is not None and answer.plan.status == OPTIMAL
        assert answer.plan.objective == best == answer.plan.bound
        assert not any(errors(question, answer.plan.assignment))
    return answer


def test_the_answer_is_the_brute_force_optimum_on_random_problems() -> None:
    source = random.Random(3)
    for _ in range(examples(40)):
        question = random_problem(source, most=800)
        is_answered(question, brute_force(question))


MISSION = problem(
    read_shorthand("4x8xH100"),  # type: ignore[arg-type]
    component("actor", 16, tp=8, gib=50),
    component("rollout", 16, tp=4),
    component("ref", 16, gib=25),
    component("agent", 32, node_groups=("node",)),
    together="ref+actor",
    apart="rollout+actor",
)


def test_groups_stay_in_nodes_and_the_greedy_answer_needs_no_solver() -> None:
    answer = solve(MISSION)
    assert (answer.verdict, answer.how) == (OPTIMAL, "greedy")
    assert answer.plan is not None
    runs = answer.plan.assignment
    assert {run.node for run in runs.of("actor")} == {0, 1} == {run.node for run in runs.of("ref")}
    assert {run.node for run in runs.of("rollout")} == {2, 3}
    assert [(run.node, len(run.ranks)) for run in runs.of("agent")] == [(0, 8), (1, 8), (2, 8), (3, 8)]


def test_a_spread_over_racks_needs_no_solver() -> None:
    """The least number of racks bounds the extra ones, and the greedy answer leaves a part for each."""
    racks = cluster(*({"count": 8, "rack": f"r{number // 2}"} for number in range(8)))
    spread = component("reward", 8, spread=(Spread("rack", 3, 50),))
    answer = solve(problem(racks, component("actor", 16), spread))
    assert answer.how == "greedy" and answer.plan is not None and answer.plan.status == OPTIMAL
    assert [(term.name, term.value) for term in answer.plan.terms if term.value] == [("extra racks", 2)]


def test_the_search_agrees_with_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_choice, "greedy", lambda layout: None)
    searched = solve(MISSION)
    assert searched.how == "search"
    assert searched.plan is not None and searched.plan.status == OPTIMAL
    assert searched.plan.objective == 0 == searched.plan.bound


@pytest.mark.slow
def test_the_same_digest_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import placewright.solver.searching.search as one; one.greedy = lambda layout: None\n"
        "import placewright.solver.searching.search as s\n"
        "from placewright.models.machines.shorthand import read_shorthand\n"
        "from placewright.models.component import Component, Parallel\n"
        "from placewright.models.job import Job\nfrom placewright.models.problem import Problem\n"
        "c = tuple(Component(n, least=a, most=b, parallel=Parallel(t)) for n, a, b, t in (('a', 8, 24, 8), ('b', 6, 20, 2), ('c', 5, 5, 1)))\n"
        "print(s.solve(Problem(read_shorthand('4x8xH100'), Job(c))).plan.digest)"
    )
    found = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1 and found.pop().startswith("sha256:")


def test_explicit_parts_stay_and_hints_go_around_them() -> None:
    question = problem(
        cluster({"count": 4}, {"count": 4}), given("a", Run(range(3), 0, first=1)), component("b", 4, tp=4), component("c", 1)
    )
    plan = solve(question).plan
    assert plan is not None
    assert plan.assignment.of("a") == question["a"].runs
    assert plan.assignment.masks("b") == {(1, "Accelerator"): 0b1111}
    assert plan.assignment.masks("c") == {(0, "Accelerator"): 0b0001}


def test_a_file_without_hints_is_only_verified() -> None:
    answer = solve(problem(cluster({"count": 2}), given("a", Run(range(2), 0))))
    assert (answer.verdict, answer.how) == (VERIFIED, "given")


def test_faults_of_explicit_parts_are_the_reason() -> None:
    answer = solve(problem(cluster({"count": 2}), given("a", Run(range(2), 0)), given("b", Run(range(1), 0, first=1)), component("c", 1)))
    assert answer.plan is None
    assert [finding.code for finding in answer.findings] == ["PW201"]


def test_the_first_choice_of_degrees_that_works_best_is_taken() -> None:
    choices = {"a": (Parallel(4), Parallel(2))}
    tight = Problem(cluster({"count": 2}, {"count": 2}), Job((component("a", 4, tp=4),), choices=choices))
    answer = solve(tight)
    assert answer.plan is not None and answer.plan.status == OPTIMAL
    roomy = Problem(cluster({"count": 4}, {"count": 4}), Job((component("a", 4, 6, tp=4),), choices=choices))
    plan = solve(roomy).plan
    assert plan is not None and plan.assignment.world_size("a") == 6  # only tp 2 reaches 6


def test_as_much_as_possible_of_a_range_is_used() -> None:
    plan = solve(problem(cluster({"count": 8}), component("a", 2, 6, tp=2), component("b", 1, 4))).plan
    assert plan is not None
    assert plan.assignment.world_size("a") + plan.assignment.world_size("b") == 8
    assert plan.terms[0].value == 2 == plan.terms[0].bound


def test_of_very_many_lengths_some_are_tried_and_nothing_is_proved_by_them() -> None:
    where = cluster(*[{"count": 8}] * 8)
    alone = solve(problem(where, component("a", 1, 60, contiguous=True)))
    assert alone.plan is not None
    assert (alone.verdict, alone.how, alone.plan.assignment.world_size("a")) == (OPTIMAL, "greedy", 60)
    two = solve(problem(where, component("a", 1, 64, contiguous=True), component("b", 1, 64, contiguous=True)))
    assert two.plan is not None
    assert two.plan.assignment.world_size("a") + two.plan.assignment.world_size("b") >= 60
    assert two.plan.bound <= two.plan.objective
    assert two.verdict == ("optimal" if two.plan.objective == two.plan.bound else "feasible")


def test_given_ranks_rule_out_the_degrees_that_do_not_fit_them() -> None:
    torn = given("b", Run(range(1), 0, first=1), Run(range(1, 2), 1), parallel=Parallel(2))
    question = Problem(cluster({"count": 2}, {"count": 2}), Job((torn, component("a", 1)), choices={"b": (Parallel(2), Parallel(1))}))
    plan = solve(question).plan
    assert plan is not None
    assert plan.degrees == {"b": Parallel(1)}


def test_robots_are_counted_in_multiples_too() -> None:
    arms = cluster(*[{"count": 0, "robots": 4}] * 4, robots=(0, 1, 2, 3))
    question = problem(arms, component("env", 4, 16, per_process=2, node_groups=("robots",)), component("more", 4, node_groups=("robots",)))
    answer = solve(question)
    assert answer.verdict == OPTIMAL
    assert answer.plan is not None
    assert answer.plan.assignment.world_size("env") == 6


def test_an_answer_that_holds_is_kept_when_the_search_finds_none() -> None:
    question = problem(cluster({"count": 8}, {"count": 8}), component("a", 2, 16, tp=2), component("b", 3, 9, tp=3))
    answer = solve(question, limit=1e-9)
    assert answer.plan is not None
    assert answer.verdict in ("optimal", "feasible")
    assert not any(check(question, answer.plan.assignment))


@pytest.mark.slow
def test_large_questions_are_answered_in_time() -> None:
    where = read_shorthand("2048x8")
    assert isinstance(where, Cluster)
    ranged = problem(where, component("a", 8, 4096, contiguous=True), component("b", 4096, tp=8), component("c", 1500, contiguous=True))
    assert solve(ranged).plan is not None
    taken = replace(where, nodes=tuple(replace(node, taken=int(node.rank == 1024)) for node in where.nodes))
    (finding,) = solve(problem(taken, component("a", 10_000, contiguous=True))).findings
    assert finding.message == "impossible: a needs one free range of 10000 accelerators, the longest has 8192"
