"""What is said of an impossible question is so: the conflict is one, none of it can be spared, every change helps."""

from __future__ import annotations

import random
from typing import Iterator

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import REPLICA, UNBOUNDED, WHOLE, Component, Keep, Parallel, Pin, Spread
from placewright.models.job import Job
from placewright.models.machines.node_group import NODE
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.solver.refuting.impossible import COUNTING, SEARCH, Conflict, find_conflict, finding_of, impossible, try_all
from placewright.solver.searching.search import solve
from sampling import examples

from .. import parity
from ..cases import cluster, component, given, problem
from ..parity_cases.random_problems import random_demands, random_problem
from ..test_search import brute_force

SPACE = 1_500


def is_impossible(question: Problem) -> bool:
    """By trying everything where that is little, else by a search."""
    endless = any(question.kind(each) == NODE and each.most >= UNBOUNDED for each in question.hinted)
    if not endless and parity.space(question) <= SPACE:
        return brute_force(question) is None
    return solve(question, limit=2.0).verdict == IMPOSSIBLE


def broken(source: random.Random, count: int) -> Iterator[Problem]:
    """Random small questions that are impossible, and for more than what is wrong with given ranks."""
    while count:
        question = random_problem(source, most=400)
        answer = solve(question, limit=2.0)
        if answer.verdict == IMPOSSIBLE and answer.how != "given":
            count -= 1
            yield question


def agrees(question: Problem) -> Conflict:
    alternatives = list(question.alternatives())
    conflict = find_conflict(alternatives)
    assert is_impossible(conflict.problem), conflict
    if conflict.minimal:
        for demand in conflict.demands:
            assert not is_impossible(conflict.problem.without(demand)), (demand, conflict)
    if conflict.row is not None:
        assert conflict.row.need > conflict.row.have, conflict.row
    for change in conflict.fixes:
        assert any(not is_impossible(change.apply(each)) for each in alternatives), change
    return conflict


@pytest.mark.slow
def test_random_conflicts_are_what_they_say() -> None:
    source = random.Random(11)
    count = examples(30)
    found = [agrees(question) for question in broken(source, count)]
    assert sum(conflict.minimal for conflict in found) >= 0.9 * count
    assert sum(bool(conflict.fixes) for conflict in found) >= 0.55 * count
    assert {conflict.how for conflict in found} == {COUNTING, SEARCH}


def test_the_same_text_every_time() -> None:
    source = random.Random(5)
    for question in broken(source, 12):
        first, again = (impossible(list(question.alternatives())) for _ in range(2))
        assert (first.message, first.notes, first.help) == (again.message, again.notes, again.help)


def test_what_has_nothing_to_do_with_it_changes_nothing() -> None:
    where = read_shorthand("4x8xH100")
    tight = [component("a", 24, tp=8), component("b", 16, tp=4)]
    more = [*tight, component("c", 1, node_groups=("node",)), component("d", 2, node_groups=("node",))]
    alone, beside = (finding_of(find_conflict([problem(where, *its)])) for its in (tight, more))  # type: ignore[arg-type]
    assert (alone.message, alone.notes, alone.help) == (beside.message, beside.notes, beside.help)


def test_what_lets_components_share_is_no_reason_that_they_lack_room() -> None:
    question = problem(cluster({"count": 8}), component("a", 4), component("b", 6), component("c", 1), together="b+a")
    conflict = agrees(question)
    assert [(demand.component, demand.field) for demand in conflict.demands] == [("a", "amount"), ("b", "amount")]
    assert "b uses the accelerators of a" in [clause.text for clause in conflict.clauses]


def test_sharing_is_to_blame_where_there_is_an_answer_without_it() -> None:
    where = cluster({"count": 4, "gib": 80}, {"count": 4, "gib": 80})
    conflict = agrees(problem(where, component("a", 4, gib=60), component("b", 4, gib=30), together="b+a"))
    assert {demand.field for demand in conflict.demands} == {"memory", "colocated"}


def test_components_that_are_alike_are_told_together() -> None:
    where = read_shorthand("2x8xH100")
    components = [component(name, 8) for name in ("actor", "a", "b", "c")]
    finding = finding_of(find_conflict([problem(where, *components)]))  # type: ignore[arg-type]
    assert finding.message == "impossible: a, b and c need 24 accelerators, the cluster has 16"
    assert finding.notes == (
        "each of a and b asks for 8 accelerators (the cluster has 16)",
        "c asks for 8 accelerators; even 1 does not fit",
    )


def test_what_no_sum_shows_is_impossible_once_everything_was_tried() -> None:
    question = problem(cluster({"count": 3}, {"count": 3}), component("a", 2, contiguous=True), component("b", 4, tp=2, contiguous=True))
    assert solve(question).verdict == IMPOSSIBLE
    conflict = agrees(question)
    assert (conflict.row, conflict.how, conflict.minimal) == (None, SEARCH, True)
    told = finding_of(conflict, proof="4 ways tried, all that there are")
    assert (told.code, told.message[:10]) == ("PW601", "impossible")
    assert told.message.endswith("(4 ways tried, all that there are)")
    told = finding_of(conflict)  # two searches of one model are no proof
    assert (told.code, told.message[:9]) == ("PW602", "undecided")


def test_a_conflict_of_a_large_problem_is_proved_once_its_components_were_tried_alone() -> None:
    """Half of 12 in each rack, from the first node of one on: `r` has no place, whatever is beside it."""
    racks = cluster(*({"count": 8, "rack": rack} for rack in "aaabbbb"))
    pinned = component("r", 12, tp=3, contiguous=True, pins=(Pin(range(2), (0,)),), spread=(Spread("rack", 1, 50),))
    others = (component(name, least, 4 * least, tp=tp) for name, least, tp in (("a", 4, 4), ("b", 8, 2), ("c", 1, 1)))
    (finding,) = solve(problem(racks, pinned, *others)).findings
    assert finding.message == "impossible: no placement satisfies these demands together (45 ways tried, all that there are)"


def test_components_of_what_has_a_placement_have_one_alone() -> None:
    source, asked = random.Random(3), 0
    for _ in range(examples(30)):
        question = random_demands(source)
        if solve(question).plan is not None:
            for size in (1, 2, 4, len(question.demands)):
                some = source.sample(question.demands, min(size, len(question.demands)))
                reduced = question.without(*(demand for demand in question.demands if demand not in some))
                assert try_all([reduced], some) is None, question
                asked += 1
    assert asked > 20


def test_a_refutation_that_no_second_search_confirms_blames_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    from placewright.solver.refuting import oracle

    question = problem(cluster({"count": 3}, {"count": 3}), component("a", 2, contiguous=True), component("b", 4, tp=2, contiguous=True))
    monkeypatch.setattr(oracle, "small_combinations", lambda layout: None)
    monkeypatch.setattr(oracle.Oracle, "is_confirmed", lambda self, alternatives: False)
    conflict = find_conflict([question])
    assert not conflict.minimal
    assert set(conflict.demands) == set(question.demands)
    assert any("not proved" in note for note in conflict.notes)


NODES = [{"count": 8, "rack": rack} for rack in "aabb"]


@pytest.mark.parametrize(
    ("asked", "message", "help_text"),
    [
        (
            component("a", 24, tp=8, keep=(Keep(WHOLE, "rack"),)),
            "impossible: a needs 24 accelerators in one rack, the largest rack that may be used has 16",
            "ask for 16 instead of 24 for a; or keep a in 2 racks instead of 1",
        ),
        (
            component("a", 24, tp=8, pp=3, keep=(Keep(REPLICA, "rack"),)),
            "impossible: a needs 1 whole group of 24 accelerators, each in one rack; what may be used has 0",
            "",
        ),
        (
            component("a", 24, tp=2, spread=(Spread("rack", percent=50),), node_groups=("most",)),
            "impossible: a needs 24 groups of 1, at most 12 (50 %) in one rack: what may be used holds 20",
            "let one rack hold 59 % of a instead of 50 %",
        ),
        (
            component("a", 8, tp=8, spread=(Spread("rack", 3),)),
            "impossible: a must be in 3 racks, 2 may be used",
            "",
        ),
        (
            component("a", 12, pins=(Pin(range(12), (0,)),)),
            "impossible: ranks 0-11 of a are pinned to node 0, where 8 processes of it can be; 12 are asked for",
            "",
        ),
        (
            component("a", 16, tp=8, excluded=(0, 1, 2)),
            "impossible: a needs 16 accelerators, the 1 node that may be used has 8",
            "ask for 8 instead of 16 for a",
        ),
    ],
)
def test_demands_on_the_topology_have_sums_too(asked: Component, message: str, help_text: str) -> None:
    conflict = agrees(problem(cluster(*NODES, most=(0, 2, 3)), asked))
    finding = finding_of(conflict)
    assert finding.message == message
    assert finding.help.startswith(help_text)
    assert finding.help


def test_where_nodes_are_out_is_counted_and_adds_up() -> None:
    where = cluster({"count": 8, "gib": 24}, {"count": 8, "gib": 80}, {"count": 0}, {"count": 8, "gib": 80, "taken": 255}, big=(1, 2, 3))
    conflict = find_conflict([problem(where, component("a", 16, gib=60))])
    (note,) = conflict.notes
    assert note == (
        "1/4 nodes can hold a: 1 taken, 1 with too little memory (24 GiB, 60 GiB are needed), 1 without accelerators"
    )  # fmt: skip


def test_several_changes_where_no_single_one_is_enough() -> None:
    where = cluster({"count": 8, "gib": 40, "taken": 255}, {"count": 8, "gib": 40}, small=(0,))
    question = problem(where, component("a", 8, node_groups=("small",)), component("b", 8, gib=60))
    conflict = agrees(question)
    assert conflict.fixes
    assert len(conflict.fixes) == 1 and " and " in conflict.fixes[0].text


def test_every_choice_of_degrees_is_refuted_and_changed() -> None:
    choices = {"a": (Parallel(8), Parallel(4))}
    question = Problem(cluster({"count": 6}, {"count": 6}), Job((component("a", 16, tp=8),), choices=choices))
    finding = impossible(list(question.alternatives()))
    assert finding.message.startswith("impossible: a needs 16 accelerators, the cluster has 12")
    assert "with all other parallel degrees" in finding.message or "with all parallel degrees" in finding.message
    for change in find_conflict(list(question.alternatives())).fixes:
        assert any(solve(change.apply(each)).plan for each in question.alternatives())


def test_many_components_on_many_nodes_are_explained_by_counting() -> None:
    where = read_shorthand("2048x8xH100")
    components = [component(f"c{number}", 528 + 8 * (number % 3), tp=8 >> number % 4, gib=20 * (number % 3)) for number in range(32)]
    conflict = find_conflict([problem(where, *components)])  # type: ignore[arg-type]
    assert conflict.minimal and conflict.how == COUNTING
    assert conflict.row is not None and conflict.row.have == 16384


def test_given_parts_are_never_blamed() -> None:
    from placewright.models.placements.run import Run

    conflict = find_conflict([problem(cluster({"count": 4}, {"count": 4}), given("g", Run(range(3), 0)), component("a", 8, tp=4))], solve)
    assert all(demand.component != "g" for demand in conflict.demands)
