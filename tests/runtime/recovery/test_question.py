"""What a plan alone asks for: its components in their sizes, wherever they lie; and how near it a new answer is."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

import pytest
from placewright.models.component import COLOCATED, SUBSET, Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.plan import OPTIMAL, Plan
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.recovery.replanner import problem_of_plan, replan, without_guesses
from placewright.solver.rules import RULES
from placewright.solver.searching.search import solve

from ..conftest import Planner


def faults(asked: Problem, plan: Plan) -> list[str]:
    """The codes of the rules that the plan breaks as an answer to this question."""
    return [finding.code for rule in RULES for subject in rule.subjects(asked) for finding in rule.check(asked, subject, plan.assignment)]


def relations(asked: Problem) -> set[tuple[str, tuple[str, ...]]]:
    return {(relation.kind, relation.components) for relation in asked.job.relations}


def test_every_component_asks_for_as_many_processes_of_the_same_size(plan: Planner) -> None:
    made = plan("2x4xH100", actor=(Run(range(2), 0, each=2, pitch=2),), agent=(Run(range(3), 1, "node", each=0, node_group="node"),))
    actor, agent = problem_of_plan(made).components
    assert (actor.least, actor.most, actor.per_process, actor.runs) == (4, 4, 2, None)
    assert (agent.least, agent.most, agent.node_groups, agent.runs) == (3, 3, ("node",), None)


def test_what_lies_on_one_node_everywhere_may_be_a_group_and_stays_on_one(plan: Planner) -> None:
    made = plan(
        "4x8", actor=(Run(range(4), 0), Run(range(4, 12), 1)), critic=(Run(range(3), 2),), rollout=(Run(range(2), 3, each=4, pitch=4),)
    )
    asked = problem_of_plan(made)
    assert {component.name: component.parallel.tp for component in asked.components} == {"actor": 4, "critic": 1, "rollout": 8}
    assert {component.parallel.tp for component in without_guesses(asked, made).components} == {1}
    assert faults(asked, made) == []


def test_what_lies_together_stays_together_and_what_lies_within_stays_within(plan: Planner) -> None:
    made = plan("1x8", actor=(Run(range(8), 0),), ref=(Run(range(4), 0, each=2, pitch=2),), critic=(Run(range(2), 0, first=2),))
    asked = problem_of_plan(made)
    assert relations(asked) == {(COLOCATED, ("actor", "ref")), (SUBSET, ("critic", "actor"))}
    assert faults(asked, made) == []


def test_what_cannot_be_said_has_given_ranks(plan: Planner) -> None:
    made = plan(
        "2x8",
        shared=(Run(range(2), 0, first=0, pitch=0),),
        uneven=(Run(range(1), 0, first=1, each=1), Run(range(1, 2), 0, first=2, each=2)),
        one=(Run(range(2), 1, first=0),),
        other=(Run(range(2), 1, first=1),),
        alone=(Run(range(2), 1, first=4),),
    )
    asked = problem_of_plan(made)
    assert [component.name for component in asked.components if component.runs is None] == ["alone"]
    assert faults(asked, made) == []


@pytest.mark.parametrize("lost", ["node-0", "node-1", "node-2"])
def test_an_answer_near_it_moves_only_what_was_lost(plan: Planner, lost: str) -> None:
    made = plan("4x4", actor=tuple(Run(range(4 * node, 4 * node + 4), node) for node in range(3)), ref=(Run(range(2), 1, each=2, pitch=2),))
    there = {node.name for node in made.cluster.nodes} - {lost}
    found, moves = replan(problem_of_plan(made), made, there, solve, LaunchFailed())
    assert found.status == OPTIMAL
    assert moves.moved == 0
    assert {node.name for node in found.cluster.nodes} == there


def test_the_moves_are_the_fewest_that_any_placement_has() -> None:
    """A group of four needs a whole node: groups of two that lie on both nodes that are left must make room."""
    cluster = read_shorthand("3x4xH100")
    wide = Component("wide", least=4, most=4, parallel=Parallel(tp=4))
    narrow = Component("narrow", least=4, most=4, parallel=Parallel(tp=2))
    runs = {"wide": (Run(range(4), 0),), "narrow": (Run(range(2), 1), Run(range(2, 4), 2, first=2))}
    before = Plan(cluster, solve(Problem(cluster, Job((wide, narrow)))).plan.assignment, OPTIMAL)  # type: ignore[union-attr]
    before = Plan(cluster, type(before.assignment)(runs), OPTIMAL)
    _, moves = replan(Problem(cluster, Job((wide, narrow))), before, {"node-1", "node-2"}, solve, LaunchFailed())
    held = {(1, frozenset({0, 1})), (2, frozenset({2, 3}))}
    fewest = min(2 - len(held & set(narrow_at)) for narrow_at in placements())
    assert (moves.moved, moves.proved) == (fewest, True) == (1, True)


def placements() -> Iterator[list[tuple[int, frozenset[int]]]]:
    """Every way to place two groups of two so that a group of four fits beside them on two nodes of four."""
    groups = [(node, frozenset(pair)) for node in (1, 2) for pair in combinations(range(4), 2)]
    for one, other in combinations(groups, 2):
        apart = one[0] != other[0] or not one[1] & other[1]
        if apart and any(node not in (one[0], other[0]) for node in (1, 2)):
            yield [one, other]
