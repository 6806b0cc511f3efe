"""What is legal and probably not meant: told in few words, at little cost, and never of good placements."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Component
from placewright.models.findings.finding import Finding, Severity
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.run import Run
from placewright.models.planning.workload import ACCELERATORS, Budget, Workload
from placewright.models.problem import Problem
from placewright.solver.advice import ADVICE
from placewright.solver.stretches import stretches
from placewright.solver.verify import advise

from .cases import cluster, component, given, problem

EIGHT = cluster({"count": 8})


def ranks(name: str, first: int, last: int, node: int = 0) -> Component:
    """A component on these accelerators of one node."""
    return given(name, Run(range(last - first + 1), node, first=first))


def said(question: Problem) -> list[tuple[str, Severity, str]]:
    return [(finding.code, finding.severity, finding.message) for finding in advise(question)]


def test_a_cluster_that_is_full_is_good() -> None:
    assert said(problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 4, 7), ranks("env", 0, 7), shares=True)) == []


def test_few_idle_accelerators_are_a_warning_many_are_not() -> None:
    assert said(problem(EIGHT, ranks("actor", 0, 4))) == [("PW801", Severity.WARNING, "3 of 8 accelerators are unused")]
    assert said(problem(EIGHT, ranks("actor", 0, 6))) == [("PW801", Severity.WARNING, "1 of 8 accelerators is unused")]
    assert said(problem(EIGHT, ranks("actor", 0, 1))) == [("PW801", Severity.NOTE, "6 of 8 accelerators are unused")]


def timed(question: Problem, workload: Workload, reserves: bool = False) -> Problem:
    """The same job, of whose components it is known how long they take."""
    capabilities = replace(question.job.capabilities, reserves_nodes=reserves)
    return replace(
        question, job=replace(question.job, capabilities=capabilities, planning=replace(question.job.planning, workload=workload))
    )


IDLE = "3 of 8 accelerators are unused"


@pytest.mark.parametrize(
    ("workload", "message", "compared"),
    [
        (Workload(budget=Budget(accelerators=5)), f"{IDLE}: `budget` allows 5", False),
        (Workload(budget=Budget(accelerators=6)), f"{IDLE}: `budget` allows 6", False),
        (Workload(budget=Budget(accelerators=4)), IDLE, True),
        (Workload(budget=Budget(accelerators=8)), IDLE, True),
        (Workload(budget=Budget(nanoseconds=9)), IDLE, True),
        (Workload(aim=ACCELERATORS), f"{IDLE}: `minimise: accelerators` asks for as few as can be", False),
        (Workload(), IDLE, True),
    ],
    ids=["budget", "less than the budget", "beyond the budget", "a budget of all", "a budget of time", "fewest", "by time"],
)
def test_what_is_idle_where_counts_are_chosen_by_time_is_no_warning(workload: Workload, message: str, compared: bool) -> None:
    (finding,) = advise(timed(problem(EIGHT, ranks("actor", 0, 4)), workload))
    assert (finding.code, finding.severity, finding.message) == ("PW801", Severity.NOTE, message)
    assert ("`solve` compares these ranks" in finding.help) is compared


def test_what_nobody_else_gets_is_a_warning_whatever_was_asked_for() -> None:
    (finding,) = advise(timed(problem(EIGHT, ranks("actor", 0, 4)), Workload(budget=Budget(accelerators=5)), reserves=True))
    assert (finding.severity, finding.message) == (Severity.WARNING, f"{IDLE}, on nodes that are reserved whole: `budget` allows 5")


def test_idle_accelerators_are_named_by_stretches_of_nodes() -> None:
    where = cluster(*[{"count": 4}] * 5, {"count": 2}, {"count": 0})
    (finding,) = advise(problem(where, ranks("a", 0, 3), ranks("b", 1, 2, node=1), ranks("c", 0, 3, node=4)))
    assert finding.notes == ("on node 1: accelerators 0,3", "on nodes 2-3: accelerators 0-3", "on node 5: accelerators 0-1")
    assert finding.amount == 12


@pytest.mark.parametrize(
    "question",
    [
        problem(cluster({"count": 8, "taken": 0b11110000}), ranks("actor", 0, 3)),
        problem(EIGHT, ranks("actor", 0, 3), component("rollout", 2)),
        problem(cluster({"count": 8, "robots": 2}, robots=(0,)), given("env", Run(range(2), 0, "Franka"), node_groups=("robots",))),
        Problem(replace(EIGHT, counted=False), Job((ranks("actor", 0, 3),))),
    ],
    ids=["taken by another job", "something is left to solve", "no component holds accelerators", "not counted"],
)
def test_nothing_is_idle_where(question: Problem) -> None:
    assert said(question) == []


def overlaps(question: Problem) -> list[Finding]:
    return [finding for finding in advise(question) if finding.code == "PW802"]


def test_an_overlap_in_part_is_a_warning_with_changes_that_were_tried() -> None:
    (finding,) = overlaps(problem(EIGHT, ranks("actor", 0, 4), ranks("rollout", 3, 7), shares=True))
    assert finding.message == "rollout and actor overlap in part: 2 accelerators (first: 3 on node 0) of 5 and 5"
    assert finding.help == "give rollout `5-7`; or give actor and rollout `0-4`"
    assert (finding.severity, finding.amount, finding.witnesses) == (Severity.WARNING, 2, (0, 3))


def test_components_alike_are_named_together() -> None:
    (finding,) = overlaps(problem(EIGHT, ranks("a", 0, 4), ranks("b", 0, 4), ranks("c", 4, 7), shares=True))
    assert finding.message == "c and a and b overlap in part: 1 accelerator (first: 4 on node 0) of 4 and 5"


@pytest.mark.parametrize(
    "spans",
    [[(0, 7), (0, 3), (4, 7)], [(0, 7), (0, 5), (1, 3), (2, 3)], [(0, 3), (0, 3)], [(0, 0), (1, 7)]],
    ids=["halves of a whole", "one in another", "the same", "apart"],
)
def test_what_lies_within_another_does_not_overlap_in_part(spans: list[tuple[int, int]]) -> None:
    assert overlaps(problem(EIGHT, *(ranks(f"c{i}", *span) for i, span in enumerate(spans)), shares=True)) == []


def test_overlaps_are_found_as_by_comparing_every_pair() -> None:
    import random

    source = random.Random(5)
    for _ in range(300):
        spans = []
        for _ in range(source.choice([2, 3, 4])):
            first = source.randrange(8)
            spans.append((first, source.randrange(first, 8)))
        sets = [set(range(first, last + 1)) for first, last in spans]
        pairs = [(one, other) for i, one in enumerate(sets) for other in sets[:i]]
        partly = any(one & other and not one <= other and not other <= one for one, other in pairs)
        found = overlaps(problem(EIGHT, *(ranks(f"c{i}", *span) for i, span in enumerate(spans)), shares=True))
        assert bool(found) == partly, spans


def test_stretches_say_what_masks_say() -> None:
    where = cluster({"count": 4}, {"count": 4}, {"count": 2}, {"count": 4})
    question = problem(where, ranks("a", 0, 3), ranks("b", 1, 2, node=1), ranks("c", 0, 0, node=2), shares=True)
    seen = {}
    for nodes, node, held in stretches(question, question.build_given()):
        for rank in nodes:
            assert len(where.nodes[rank].accelerators) == len(node.accelerators)
            seen.update({(name, rank, kind): mask for (name, kind), mask in held.items() if mask})
    expected = {(c.name, node, kind): m for c in question.components for (node, kind), m in question.build_given().masks(c.name).items()}
    assert seen == expected


def test_advice_about_a_million_accelerators_costs_nothing() -> None:
    where = read_shorthand("125000x8")
    assert not isinstance(where, tuple)
    from placewright.models.placements.placement_text import RankRange, runs_of

    runs = runs_of([RankRange(0, 999_990, 999_990)], where, ("cluster",))
    whole = replace(component("a", 999_990), runs=runs)
    assert said(problem(where, whole)) == [("PW801", Severity.WARNING, "10 of 1000000 accelerators are unused")]


def test_each_advice_has_its_own_code() -> None:
    assert len({advice.code for advice in ADVICE}) == len(ADVICE)
