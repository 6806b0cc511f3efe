"""What room designs are given: whole groups, node groups, kinds, given ranks."""

from __future__ import annotations

from placewright.models.placements.run import Run
from placewright.models.planning.workload import After, Workload

from ...solver.cases import cluster, given, problem
from ..looped import planned, timed


def test_only_whole_groups_are_counted_before_anything_is_placed() -> None:
    """Each node has 7 left: two components in groups of 4 have three nodes between them, and no design is tried that needs more."""
    asked_for = problem(
        cluster(*({"count": 8, "taken": 1} for _ in range(3))),
        timed("rollout", 4, 24, tp=4),
        timed("actor", 4, 24, tp=4),
        apart="rollout+actor",
    )
    _, found = planned(asked_for)
    assert found.unplaceable == ()
    assert found.proved
    assert found.best.design.accelerators == 12


def test_components_share_the_room_of_the_nodes_that_both_are_bound_to() -> None:
    asked_for = problem(
        cluster({"count": 4}, {"count": 4}, {"count": 8}, small=(0, 1)),
        timed("rollout", 1, 16, node_groups=("small",)), timed("actor", 1, 16, node_groups=("small",)), timed("ref", 1, 16, 20), apart="rollout+actor",
    )  # fmt: skip
    _, found = planned(asked_for)
    options = found.best.design.options
    assert found.unplaceable == ()
    assert options["rollout"].amount + options["actor"].amount <= 8
    assert found.proved


def test_kinds_of_the_same_model_and_another_memory_are_told_apart() -> None:
    where = cluster({"count": 4, "model": "A100", "gib": 80}, {"count": 4, "model": "A100", "gib": 40})
    asked_for = problem(where, timed("rollout", 1, 8, gib=60), timed("actor", 1, 8, gib=30), apart="rollout+actor")
    answer, found = planned(asked_for)
    assert answer.plan is not None
    assert [run.node for run in answer.plan.assignment.of("rollout")] == [0]
    assert found.question.kinds[found.best.design.options["rollout"].kind].memory == 80 * 1024


def test_given_ranks_stay_and_what_is_inside_them_is_planned() -> None:
    where = cluster({"count": 8}, {"count": 8})
    fixed = given("actor", Run(range(0, 8), 1), timed=timed("actor", 8, 8).timed)
    asked_for = problem(where, fixed, timed("rollout", 1, 16, 90), timed("reward", 1, 16, 10), within="rollout+actor")
    workload = Workload((After("rollout", "reward"), After("reward", "actor")))
    answer, found = planned(asked_for, workload)
    assert answer.plan is not None
    assert {run.node for run in answer.plan.assignment.of("rollout")} == {1}
    assert {run.node for run in answer.plan.assignment.of("reward")} == {0}
    assert found.best.design.options["rollout"].amount == 8
