"""Which domains are alike, and which problems are no sum over domains."""

from __future__ import annotations

import pytest
from placewright.models.component import REPLICA, Keep, Spread
from placewright.models.problem import Problem
from placewright.solver.layout.layout import Layout
from placewright.solver.objectives.tiers import tiers
from placewright.solver.patterns.applicability import applies, group_domains

from ..cases import cluster, component, problem

IN_RACK = (Keep(REPLICA, "rack"),)


def question() -> Problem:
    """Three racks of 2 x 4 and one of 4 + 2; replicas of 4 in one rack, groups of 2."""
    nodes = [{"count": 4, "rack": f"r{rank // 2}"} for rank in range(6)]
    machines = cluster(*nodes, {"count": 4, "rack": "s"}, {"count": 2, "rack": "s"})
    return problem(machines, component("a", 8, tp=2, pp=2, keep=IN_RACK), component("b", 6, tp=2), component("c", 3))


def test_racks_with_the_same_room_are_alike_whatever_their_names() -> None:
    kinds = group_domains(Layout(question()), "rack")
    assert [[cells[0].domain("rack") for cells in kind.domains] for kind in kinds] == [["r0", "r1", "r2"], ["s"]]


def test_given_parts_and_memberships_tell_racks_apart() -> None:
    machines = cluster(*({"count": 2, "rack": f"r{rank}", "taken": int(rank == 2)} for rank in range(4)), g=(0, 2, 3))
    kinds = group_domains(Layout(problem(machines, component("a", 2), component("b", 1, node_groups=("g",)))), "rack")
    assert [[cells[0].domain("rack") for cells in kind.domains] for kind in kinds] == [["r0", "r3"], ["r1"], ["r2"]]


@pytest.mark.parametrize(
    ("more", "is_sum"),
    [
        ({}, True),
        ({"contiguous": True}, False),
        ({"spread": (Spread("node", 2),)}, False),
        ({"keep": (Keep(REPLICA, "rack", required=False),)}, False),
        ({"most": 8, "spread": (Spread("rack", percent=50),)}, False),
    ],
)
def test_problems_that_are_no_sum_over_domains_have_no_patterns(more: dict[str, object], is_sum: bool) -> None:
    asked = problem(cluster(*({"count": 4, "rack": f"r{rank}"} for rank in range(3))), component("a", 4, tp=2, **more), component("b", 1))
    assert applies(Layout(asked), tiers(asked)) == is_sum
