"""After losing or gaining nodes, or asking for another number: what stays stays, with its ranks where the framework allows it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.answer import Answer
from placewright.models.component import Keep, Parallel, Pin
from placewright.models.job import Capabilities, Job
from placewright.models.machines.node_group import NODE_LABEL
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.moves import Moves
from placewright.models.placements.plan import OPTIMAL, VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.models.placements.run_checks import deal_round_robin
from placewright.models.problem import Problem
from placewright.solver.replanning import immovable, lose, moves, replan
from placewright.solver.searching.search import solve

from ..cases import cluster, component, given, problem

FOUR = cluster(*({"count": 4, "rack": rack} for rack in "aabb"))


def plan(question: Problem, **runs: tuple[Run, ...]) -> Plan:
    return Plan(question.cluster, Assignment(runs), VERIFIED)


def pair(rank: int, node: int, first: int = 0) -> Run:
    """A group of two processes."""
    return Run(range(2 * rank, 2 * rank + 2), node, first=first)


def solve_near(question: Problem, before: Plan) -> tuple[Answer, Moves | None]:
    """The answer near a plan, and what moved, if there is one."""
    near = replan(question, before)
    answer = solve(near)
    return answer, moves(near, before, answer.plan) if answer.plan else None


QUESTION = problem(FOUR, component("a", 8, tp=2), component("b", 4, tp=4))
BEFORE = plan(QUESTION, a=(pair(0, 3), pair(1, 1), pair(2, 0, 2), pair(3, 1, 2)), b=(Run(range(0, 4), 2),))


def test_what_a_file_says_of_ranks_that_are_planned_anew_is_kept_of_those_alone_that_lost_none() -> None:
    own = {"a": (pair(0, 3), pair(1, 2)), "b": (Run(range(0, 4), 1),)}
    question = replace(QUESTION, job=replace(QUESTION.job, planning=replace(QUESTION.job.planning, own=own)))
    assert lose(question, [1]).job.planning.own == {"a": (pair(0, 2), pair(1, 1))}
    assert lose(question, [3]).job.planning.own == {"b": own["b"]}
    assert lose(question, []).job.planning.own == own


def test_a_lost_node_moves_only_what_was_on_it_and_ranks_stay() -> None:
    answer, found = solve_near(lose(QUESTION, [1]), BEFORE)
    assert found is not None
    assert answer.plan is not None
    assert (found.lost, found.moved, found.kept, found.renumbered, found.proved) == (2, 0, 3, 0, True)
    # Nodes 2 and 3 are 1 and 2 now; groups 1 and 3 are new where room is left, groups 0 and 2 are where they were.
    assert answer.plan.assignment.of("b") == (Run(range(0, 4), 1),)
    held = {rank: run.node for run in answer.plan.assignment.of("a") for rank in run.ranks}
    assert [held[rank] for rank in (0, 1, 4, 5)] == [2, 2, 0, 0]


def test_nodes_in_order_renumber_ranks_and_that_is_counted() -> None:
    ordered = replace(QUESTION, job=Job(QUESTION.components, capabilities=Capabilities(nodes_in_order=True)))
    answer, found = solve_near(ordered, BEFORE)
    assert found is not None
    assert (found.lost, found.moved, found.kept) == (0, 0, 5)
    assert found.renumbered > 0
    assert answer.plan is not None
    nodes = [run.node for run in answer.plan.assignment.of("a")]
    assert nodes == sorted(nodes)


def test_nodes_are_matched_by_name_whatever_their_ranks_are() -> None:
    gained = cluster({"count": 4, "rack": "z"}, *({"count": 4, "rack": rack} for rack in "aabb"))
    nodes = tuple(replace(node, name=name) for node, name in zip(gained.nodes, ("new", "node-0", "node-1", "node-2", "node-3")))
    _, found = solve_near(replace(QUESTION, cluster=replace(gained, nodes=nodes)), BEFORE)
    assert found is not None
    assert (found.lost, found.moved, found.kept, found.renumbered) == (0, 0, 5, 0)


def test_accelerators_that_another_job_took_are_lost() -> None:
    taken = cluster({"count": 4, "rack": "a", "taken": 4}, *({"count": 4, "rack": rack} for rack in "abb"))
    _, found = solve_near(replace(QUESTION, cluster=taken), BEFORE)
    assert found is not None
    assert (found.lost, found.moved, found.kept) == (1, 0, 4)


@pytest.mark.parametrize(("amount", "kept", "ended", "started"), [(6, 3, 1, 0), (8, 4, 0, 0), (10, 4, 0, 1)])
def test_another_number(amount: int, kept: int, ended: int, started: int) -> None:
    changed = problem(FOUR, component("a", amount, tp=2), component("b", 4, tp=4))
    _, found = solve_near(changed, BEFORE)
    assert found is not None
    part = found.parts[0]
    assert (part.name, part.before, part.now, part.kept, part.ended, part.started, part.moved) == (
        "a", 4, amount // 2, kept, ended, started, 0,
    )  # fmt: skip
    assert part.renumbered <= ended  # ranks that are no more are given up


def test_a_new_component_moves_nobody_and_one_that_is_gone_holds_nothing() -> None:
    changed = problem(FOUR, component("a", 8, tp=2), component("c", 4, tp=4))
    _, found = solve_near(changed, BEFORE)
    assert found is not None
    assert [(part.name, part.kept, part.moved) for part in found.parts] == [("a", 4, 0)]


def test_whole_replicas_keep_their_ranks_and_the_others_are_filled_up_in_their_domain() -> None:
    actor = component("a", 8, tp=2, pp=2, keep=(Keep("replica", "rack"),))
    before = plan(QUESTION, a=(pair(0, 2), pair(1, 3), pair(2, 0), pair(3, 1)))
    answer, found = solve_near(lose(problem(FOUR, actor), [1]), before)
    assert found is not None
    assert (found.lost, found.moved, found.kept, found.renumbered) == (1, 0, 3, 0)
    assert answer.plan is not None
    nodes = {rank: run.node for run in answer.plan.assignment.of("a") for rank in run.ranks}
    assert [nodes[rank] for rank in (0, 2, 4, 6)] == [1, 2, 0, 0]


def test_other_degrees_keep_nothing() -> None:
    chosen = replace(BEFORE, degrees={"a": Parallel(4)})
    found = replan(QUESTION, chosen)
    assert found.previous is not None
    assert "a" not in found.previous.runs
    assert "b" in found.previous.runs


def test_pins_and_excluded_nodes_are_numbered_anew() -> None:
    pinned = problem(FOUR, component("a", 2, pins=(Pin(range(0, 1), (1, 3)),), excluded=(0, 2)))
    left = lose(pinned, [1])
    assert left["a"].pins[0].nodes == (2,)
    assert left["a"].excluded == (0, 1)


def test_what_has_given_ranks_on_a_lost_node_is_said() -> None:
    fixed = problem(FOUR, given("g", Run(range(0, 2), 1)), component("a", 2))
    assert [finding.code for finding in immovable(fixed, [1])] == ["PW607"]
    assert list(immovable(fixed, [0])) == []
    assert lose(fixed, [0])["g"].runs == (Run(range(0, 2), 0),)


def test_to_begin_to_share_by_choice_is_not_free_of_moves() -> None:
    """The third component needs a whole node: two groups move there or onto those of the other, either way."""
    question = problem(cluster({"count": 4}, {"count": 4}), component("a", 2), component("b", 2), component("c", 4, tp=4), either="a+b")
    before = Assignment({"a": (Run(range(0, 2), 0),), "b": (Run(range(0, 2), 1),), "c": ()})
    answer = solve(replace(question, previous=before))
    assert answer.plan is not None and answer.plan.status == OPTIMAL
    assert next(term.value for term in answer.plan.terms if term.name == "groups moved") == 2
    assert answer.plan.assignment.masks("a") != answer.plan.assignment.masks("b")


def test_components_on_accelerators_are_not_dealt_to_nodes_where_none_is_left() -> None:
    mixed = problem(cluster({"count": 2}, {"count": 0}, {"count": 2}), component("a", 2))
    assert [(finding.code, finding.subject) for finding in immovable(mixed, [0, 2])] == [("PW609", "a")]
    assert list(immovable(mixed, [0])) == []


def test_without_a_plan_before_nothing_is_said_of_moves() -> None:
    found = moves(QUESTION, plan(QUESTION), BEFORE)
    assert (found.parts, found.lost, found.moved) == ((), 0, 0)


def test_processes_that_the_framework_deals_out_are_on_the_rest_and_what_became_of_them_is_told() -> None:
    dealt = replace(given("r", Run(range(0, 1), 0)), runs=deal_round_robin(5, 3), node_groups=(NODE_LABEL,))
    question = problem(FOUR, component("a", 8, tp=4), dealt)
    question = replace(question, job=replace(question.job, in_turn=frozenset("r")))
    was = plan(question, a=(Run(range(0, 4), 0), Run(range(4, 8), 2)), r=tuple(deal_round_robin(5, 3)))  # two, two and one
    assert list(immovable(question, [0])) == []
    left = lose(question, [0])
    assert left.build_given().world_size("r") == 5
    asked = replan(left, was)
    now = plan(asked, a=(Run(range(0, 4), 1), Run(range(4, 8), 0)), r=tuple(deal_round_robin(5, 2)))  # three on node 1, two on node 2
    its = next(part for part in moves(asked, was, now).parts if part.name == "r")
    assert (its.before, its.lost, its.kept, its.moved, its.now, its.renumbered) == (5, 2, 3, 0, 5, 2)
