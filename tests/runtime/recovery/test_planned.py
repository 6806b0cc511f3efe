"""A launch whose counts were chosen by time: after a loss they are chosen anew, for what there is."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.plan import Plan
from placewright.models.planning.spec import PlanningSpec
from placewright.models.planning.workload import SECOND, After, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.runtime.failure import build_failure
from placewright.runtime.launch import bring_up
from placewright.runtime.recovery.lifetime import RestartPolicy
from placewright.runtime.recovery.replanner import Replanner, solve_in_child

from ..fake import FakePort
from .launching import Trainer, places

ROWS = TimedComponent((Measurement(4, 60 * SECOND), Measurement(8, 30 * SECOND)))


def planned(cluster: str) -> tuple[Problem, Plan]:
    """Rollout and actor, twice as fast on twice as many, with their plan."""
    parts = tuple(Component(name, least=2, most=8, parallel=Parallel(tp=2), timed=ROWS) for name in ("rollout", "actor"))
    problem = Problem(read_shorthand(cluster), Job(parts, planning=PlanningSpec(workload=Workload((After("rollout", "actor"),)))))
    answer = solve_in_child(problem)
    assert answer.plan is not None
    return problem, answer.plan


def test_counts_are_chosen_anew_after_a_loss() -> None:
    port = FakePort(4, 4)
    problem, plan = planned("2x4xH100")
    assert {plan.assignment.amount(name) for name in plan.components} == {8}
    with ExitStack() as stack:
        running = bring_up(stack, plan, port, Trainer, 60, lambda step: None, policy=RestartPolicy(1, problem=problem))
        lost = next(iter(running.audit)).node
        port.lose_node(int(lost[-1]))
        assert running.run("step") == {"rollout": ["stepped"] * 4, "actor": ["stepped"] * 4}
        (recovery,) = running.recoveries
        assert recovery.moves is not None
        assert (recovery.moves.lost, recovery.moves.moved, recovery.moves.kept) == (2, 0, 2)
        assert {node for node, _ in places(running).values()} == {f"node-{1 - int(lost[-1])}"}
    assert port.left_over() == {}


def test_what_others_hold_counts_when_counts_are_chosen_anew() -> None:
    problem, plan = planned("2x4xH100")
    nodes = tuple(replace(node, taken=0b1100 if node.rank else 0) for node in problem.cluster.nodes)
    cluster, names = replace(problem.cluster, nodes=nodes), {node.name for node in nodes}
    again, moved = Replanner(plan, problem, solve_in_child).replan(plan, cluster, names, build_failure("PW714", "", "lost", ""))
    assert {again.assignment.amount(name) for name in again.components} == {6}
    assert moved.moved == 0
    assert all(not node.taken for node in again.cluster.nodes)
