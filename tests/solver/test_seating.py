"""Orders of ranks on the same accelerators: strides, the same order, and weights that are handed over in place."""

from __future__ import annotations

from placewright.models.component import Component
from placewright.models.placements.assignment import seats
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.layout.ranks import orders
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem


def seated(size: int, *members: Component, **pairs: str) -> dict[str, tuple[int, ...]] | None:
    """The orders of these components on one node."""
    question = problem(cluster({"count": size}), *members, **pairs)  # type: ignore[arg-type]
    return orders(question, question.components, [(0, 0)] * size, {})


def test_the_stride_of_rlinf_comes_out_by_itself() -> None:
    """Source: RLinf, rlinf/utils/placement.py: stride = tp of the actor // tp of the rollout."""
    free = seated(8, component("actor", 8, tp=8), component("rollout", 8, tp=2), in_place="actor+rollout")
    strided = seated(8, component("actor", 8, tp=8, contiguous=True), component("rollout", 8, tp=2, contiguous=True, stride=4))
    assert free == strided == {"actor": tuple(range(8)), "rollout": (0, 4, 1, 5, 2, 6, 3, 7)}


def test_a_larger_tp_finds_its_parts_too() -> None:
    assert seated(4, component("a", 4, tp=2), component("b", 4, tp=4), in_place="a+b") == {"a": (0, 1, 2, 3), "b": (0, 2, 1, 3)}


def test_sizes_of_which_none_divides_the_other_have_no_order() -> None:
    for one, other in ((6, 4), (4, 6), (3, 2)):
        assert seated(12, component("a", 12, tp=one), component("b", 12, tp=other), in_place="a+b") is None


def test_a_stride_that_does_not_suit_has_no_order() -> None:
    actor, rollout = component("a", 16, tp=4, contiguous=True, stride=2), component("b", 16, tp=2, contiguous=True)
    assert seated(16, actor, rollout, in_place="a+b") is None


def test_several_engines_find_their_weights_on_one_trainer() -> None:
    members = component("a", 8, tp=8), component("b", 8, tp=4), component("c", 8, tp=2), component("d", 8)
    found = seated(8, *members, in_place="a+b a+c b+c", aligned="d+c")
    assert found is not None and found["c"] == found["d"] == (0, 4, 1, 5, 2, 6, 3, 7)


def test_what_is_solved_is_in_place_and_in_one_order_on_every_node() -> None:
    question: Problem = problem(
        cluster(*({"count": 8} for _ in range(6))),
        component("actor", 32, tp=8, contiguous=True),
        component("rollout", 32, tp=2),
        component("reference", 32, tp=4, per_process=4),
        component("reward", 8),
        in_place="actor+rollout",
        aligned="reference+actor",
    )
    answer = solve(question)
    assert answer.plan and not list(check(question, answer.plan.assignment))
    lists = {name: [seat for _, its in seats(answer.plan.assignment.of(name)) for seat, _, _ in its] for name in ("actor", "reference")}
    assert lists["actor"] == lists["reference"]


def test_other_ranks_are_told_with_what_would_help() -> None:
    question = problem(
        cluster({"count": 4}),
        component("actor", 4, tp=4, runs=(Run(range(4), 0),)),
        component("rollout", 4, tp=2, runs=(Run(range(4), 0),)),
        in_place="actor+rollout",
        shares=True,
    )
    (fault,) = check(question, question.build_given())
    assert (fault.code, fault.witnesses, fault.amount) == ("PW220", (0, 1, 1, 1), 2)
    assert "stride: 2" in fault.help
