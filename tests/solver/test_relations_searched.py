"""What relations and shares come to where ranks are searched: a sum that shows why not, or a plan that keeps to them."""

from __future__ import annotations

import pytest
from placewright.models.problem import Problem
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem, share
from .few_ranks import EIGHT, TWO_NODES, demanded, ranks


@pytest.mark.parametrize(
    ("question", "message", "help_text"),
    [
        (
            problem(EIGHT, ranks("actor", 0, 3), component("rollout", 6, tp=2), within="rollout+actor", shares=True),
            "impossible: rollout needs 6 accelerators of actor, which has 4 that may be used",
            "ask for 4 instead of 6 for rollout",
        ),
        (
            problem(TWO_NODES, component("actor", 8, tp=4), component("a", 6, tp=2), component("b", 4), within="a+actor b+actor"),
            "impossible: a and b need 10 accelerators within actor, which has at most 8",
            "ask for 12 instead of 8 for actor; or ask for 4 instead of 6 for a; or ask for 2 instead of 4 for b; "
            "or drop `within: actor` of a; or drop `within: actor` of b",
        ),
        (
            problem(TWO_NODES, component("actor", 4), component("rollout", 8, tp=2), in_sequence="actor rollout"),
            "impossible: actor and rollout come in order and must fill the cluster: at most 12, the cluster has 16",
            "ask for 12 instead of 8 for rollout; or ask for 8 instead of 4 for actor",
        ),
        (
            problem(TWO_NODES, component("env", 4), component("rollout", 6), not_fewer="env+rollout"),
            "impossible: env must have as many processes as rollout: at most 4, at least 6 are needed",
            "ask for 6 instead of 4 for env; or ask for 4 instead of 6 for rollout",
        ),
        (
            problem(TWO_NODES, component("env", 5), dealt=(share("env", 48, 2),)),
            "impossible: env: with 5 accelerators 48 environments in multiples of 2 cannot be dealt out evenly",
            "ask for 4 instead of 5 for env; or set `total_num_envs` to 50; or set `total_num_envs` to 40",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), component("env", 1, 8), together="env+actor", dealt=(share("env", 6),)),
            "impossible: env: with 4 accelerators 6 environments cannot be dealt out evenly",
            "drop `colocate_with: actor` of env",
        ),
    ],
)
def test_what_relations_and_shares_make_impossible_is_a_sum(question: Problem, message: str, help_text: str) -> None:
    (finding,) = solve(question).findings
    assert (finding.message, finding.help) == (message, help_text)


def test_what_a_framework_demands_is_not_proposed_to_be_dropped() -> None:
    question = problem(TWO_NODES, component("actor", 8, tp=4), component("a", 12), within="a+actor")
    assert "drop `within: actor` of a" not in solve(demanded(question, "the framework")).findings[0].help
    assert any(note.endswith("; the framework demands it") for note in solve(demanded(question, "the framework")).findings[0].notes)


def test_parts_within_a_searched_component_share_its_accelerators_and_none_with_each_other() -> None:
    question = problem(
        TWO_NODES, component("actor", 12, tp=4), component("a", 8, tp=4), component("b", 3), component("c", 4), within="a+actor b+actor"
    )
    plan = solve(question).plan
    assert plan is not None
    held = {name: plan.assignment.masks(name) for name in ("actor", "a", "b", "c")}
    for inner in ("a", "b"):
        assert all(mask & ~held["actor"].get(place, 0) == 0 for place, mask in held[inner].items())
    assert not any(mask & held["b"].get(place, 0) for place, mask in held["a"].items())
    assert not any(mask & held["actor"].get(place, 0) for place, mask in held["c"].items())


def test_many_lengths_prove_nothing_where_more_is_needed() -> None:
    wide = cluster(*[{"count": 8}] * 40)
    answer = solve(problem(wide, component("a", 1, 319, contiguous=True), component("b", 1, 319, contiguous=True), in_sequence="a b"))
    assert answer.verdict != "impossible"
