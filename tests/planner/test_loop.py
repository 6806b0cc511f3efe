"""Between designs and placements: what cannot be placed is ruled out, nothing else is, and what is found is the best that can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.component import WHOLE, Keep, Parallel, Pin
from placewright.models.job import Link
from placewright.models.planning.design import bars
from placewright.models.planning.workload import ACCELERATORS, SECOND, TABLE, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.benders import find_no_good
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.placing import placing
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.planner.unplaced import not_placed, report_infeasible
from placewright.report.planning.words import format_proof
from placewright.solver.sandbox.end_reasons import Faulty, too_late
from placewright.solver.searching.search import solve

from ..solver.cases import cluster, component, problem
from .looped import CHAIN, PAIR, planned, timed
from .tried import priced


def refusing(count: int, verdict: str = IMPOSSIBLE) -> Callable[[Problem], Answer]:
    """A placement that has none for the first `count` designs of two components, whenever it is asked for them."""
    refused: set[object] = set()

    def place(asked_for: Problem) -> Answer:
        design = tuple((each.name, each.least) for each in asked_for.components), tuple(each.kind for each in asked_for.job.relations)
        whole = len(asked_for.components) == 2 and all(each.least == each.most for each in asked_for.components)
        if whole and (design in refused or len(refused) < count):
            refused.add(design)
            return Answer(verdict)
        return solve(asked_for)

    return place


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_first_designs_may_fail(count: int) -> None:
    """Each is ruled out by itself, where nothing shows more; the next best of all is then the answer, and proved."""
    first: dict[object, tuple[int, int]] = {}
    for price, design in sorted(priced(planning_problem(PAIR.with_workload(CHAIN)), False), key=lambda each: each[0]):
        first.setdefault((design.blocks, tuple(design.options.items())), price)
    _, found = planned(PAIR, CHAIN, refusing(count))
    assert [(each.priced.nanoseconds, each.priced.design.accelerators) for each in found.unplaceable] == list(first.values())[:count]
    assert (found.best.nanoseconds, found.best.design.accelerators) == list(first.values())[count]
    assert found.proved


def test_it_ends_where_nothing_can_be_placed() -> None:
    answer = plan(PAIR.with_workload(CHAIN), lambda asked_for: Answer(UNDECIDED))
    assert answer.plan is None
    assert answer.verdict == UNDECIDED
    assert [each.code for each in answer.findings] == ["PW602"]
    assert "none of the 12 best designs was placed" in answer.findings[0].message


def test_that_nothing_was_found_in_time_is_no_proof() -> None:
    assert report_infeasible(False, ()).verdict == UNDECIDED
    assert "no proof that there are none" in report_infeasible(False, ()).findings[0].message
    assert report_infeasible(True, ()).verdict == IMPOSSIBLE


def test_what_may_have_a_placement_is_no_proof() -> None:
    """A design whose placement nobody found in time: the next is the answer, its bound is what the first would take."""
    first = planned(PAIR)[1].best
    _, found = planned(PAIR, CHAIN, refusing(1, UNDECIDED))
    assert not found.proved
    assert found.bound == first.nanoseconds < found.best.nanoseconds


def test_what_may_have_a_placement_and_costs_as_much_first_leaves_open_what_comes_second() -> None:
    """Beside each other on 2 they take 240 seconds; nobody knows whether they can be together on these, which takes 180."""
    workload = Workload((), aim=ACCELERATORS, budget=Budget(nanoseconds=300 * SECOND))
    sure = planned(PAIR, workload)[1]
    _, found = planned(PAIR, workload, refusing(1, UNDECIDED))
    assert sure.proved and not sure.ties_open
    assert (found.best.design.accelerators, found.proved, found.bound) == (sure.best.design.accelerators, True, sure.bound)
    assert (sure.best.nanoseconds, found.best.nanoseconds) == (180 * SECOND, 240 * SECOND)
    assert found.ties_open
    assert format_proof(found) == "proved the fewest with accelerators shared whole, though a quicker plan on as many may exist"
    assert format_proof(sure) == "proved the best with accelerators shared whole"


def test_a_proof_rules_out_all_that_it_shows() -> None:
    """One of rollout's ranks is pinned to the node of 2: with a group of 4 no count has a placement."""
    asked_for = problem(
        cluster({"count": 8}, {"count": 2}), timed("rollout", 4, 8, tp=4, pins=(Pin(range(1), (1,)),)), timed("actor", 1, 8)
    )
    question = planning_problem(asked_for.with_workload(CHAIN))
    design = min(priced(question, False), key=lambda each: each[0])[1]
    out = find_no_good(asked_for, question, design, solve)
    assert set(out.uses) == {"rollout"}
    assert (out.uses["rollout"].amount, out.uses["rollout"].or_more) == (8, True)
    assert all(bars(out, each) for _, each in priced(question, False) if each.options["rollout"].amount == 8)
    assert plan(asked_for.with_workload(CHAIN), solve).verdict == IMPOSSIBLE


def test_of_equal_designs_the_better_placement_wins() -> None:
    """Together on 4 or apart on 1 and 3 takes as long and as many; apart, `rollout` sends nothing from rack to rack."""
    where = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"})
    parts = []
    for name, alone, traffic in (("rollout", 1, 100), ("actor", 3, 10)):
        rows = tuple(Measurement(count, 30 * SECOND) for count in (alone, 4))
        parts.append(replace(component(name, 1, 4, traffic=traffic), timed=TimedComponent(rows, TABLE)))
    answer, found = planned(problem(where, *parts))
    assert (found.best.nanoseconds, found.best.design.accelerators) == (60 * SECOND, 4)
    assert {name: its.amount for name, its in found.best.design.options.items()} == {"rollout": 1, "actor": 3}
    assert answer.plan is not None
    assert answer.plan.objective == 10
    assert [len(each.design.blocks) for each in found.alternatives] == [1]


def test_fewest_accelerators_for_at_most_so_many_seconds() -> None:
    workload = replace(CHAIN, aim=ACCELERATORS, budget=Budget(nanoseconds=60 * SECOND))
    _, found = planned(PAIR, workload)
    # 60 and 30 seconds on 4 each: together on 6 they take (60 + 30) x 4 / 6 = 60 seconds.
    assert (found.best.design.accelerators, found.best.nanoseconds) == (6, 60 * SECOND)
    assert (found.bound, found.proved) == (6, True)


def test_at_most_so_many_accelerators() -> None:
    _, found = planned(PAIR, replace(CHAIN, budget=Budget(accelerators=5)))
    assert found.best.design.accelerators == 5
    assert found.best.nanoseconds == 72 * SECOND


LINKED = replace(PAIR, job=replace(PAIR.job, links=(Link("actor", "rollout", weights=100),)))
"""16 accelerators on two nodes; new weights of 100 MiB go to every node on which the actor is not."""


def test_what_crosses_counts_as_time() -> None:
    """Side by side in 8 batches beats one after the other, until the weights that then cross cost more than that saves."""
    chain = replace(CHAIN, batches=8)
    rows = {
        "rollout": TimedComponent((Measurement(8, 40 * SECOND), Measurement(16, 35 * SECOND))),
        "actor": TimedComponent((Measurement(8, 40 * SECOND), Measurement(16, 35 * SECOND))),
    }
    parts = tuple(replace(each, timed=rows[each.name], least=8, parallel=Parallel(8)) for each in LINKED.components)
    asked_for = replace(LINKED, job=replace(LINKED.job, components=parts))
    apart_takes, together_takes = 45 * SECOND, 70 * SECOND
    _, free = planned(asked_for, chain)
    assert (free.best.nanoseconds, free.best.traffic) == (apart_takes, 0)
    _, cheap = planned(asked_for, replace(chain, bandwidth={"node": 100}))
    assert (cheap.best.nanoseconds, cheap.best.traffic, cheap.proved) == (apart_takes, SECOND, True)
    assert cheap.bound == apart_takes + SECOND
    answer, dear = planned(asked_for, replace(chain, bandwidth={"node": 2}))
    assert (dear.best.nanoseconds, dear.best.traffic, dear.proved) == (together_takes, 0, True)
    assert answer.plan is not None
    assert answer.plan.cluster == asked_for.cluster
    assert not list(faults(dear.question, cost_model("stream"), dear.best.design))


def test_time_with_what_crosses_keeps_to_the_budget() -> None:
    workload = replace(CHAIN, aim=ACCELERATORS, budget=Budget(nanoseconds=60 * SECOND), bandwidth={"node": 1000})
    _, found = planned(LINKED, workload)
    assert found.best.nanoseconds + found.best.traffic <= 60 * SECOND
    assert found.best.design.accelerators == 6


RACKS = cluster({"count": 8, "rack": "a"}, {"count": 8, "rack": "b"})


def test_what_no_placement_has_is_no_other_arrangement_and_what_its_structure_has_besides_is() -> None:
    kept = replace(timed("actor", 4, 16, 55), keep=(Keep(WHOLE, "rack"),))
    asked_for = problem(RACKS, timed("rollout", 4, 16, 60, 0.9), kept)
    _, found = planned(asked_for)
    assert found.alternatives
    for other in (found.best, *found.alternatives):
        assert other.design.options["actor"].amount <= 8
        assert solve(placing(asked_for, found.question, other.design)).plan is not None
    assert any(out.priced.design.options["actor"].amount > 8 for out in found.unplaceable)
    assert not found.not_placed


def test_counts_that_were_found_are_not_denied_where_placing_them_was_ended() -> None:
    (finding,) = not_placed(too_late(2), True).findings
    assert (finding.code, finding.help) == ("PW602", too_late(2).help)
    assert finding.message.endswith("after 2 s, and until then none of the counts and degrees that fit together was placed")
    assert not_placed(too_late(2), False).findings == (too_late(2).without_answer,)
    assert not_placed(Faulty("it lies"), True).findings == (Faulty("it lies").without_answer,)


def test_what_could_not_be_placed_in_time_is_said_to_be_not_placed() -> None:
    kept = replace(timed("actor", 1, 16, 30), keep=(Keep(WHOLE, "rack"),))
    asked_for = problem(RACKS, timed("rollout", 1, 16), kept)
    _, before = planned(asked_for)
    best = before.best.design

    def place(asked_for: Problem) -> Answer:
        is_best = all(best.options[each.name].amount == each.least for each in asked_for.components)
        return solve(asked_for) if is_best else Answer(UNDECIDED, how="search")

    _, found = planned(asked_for, place=place)
    assert found.best == before.best
    assert found.alternatives
    assert found.not_placed == found.alternatives


def test_what_is_kept_on_a_node_has_no_counts_beyond_it() -> None:
    kept = replace(timed("actor", 1, 16, 55), keep=(Keep(WHOLE, "node"),))
    _, found = planned(problem(cluster({"count": 4}, {"count": 4}), kept))
    assert {option.amount for option in found.question.options["actor"]} == {1, 2, 3, 4}
    assert found.proved
