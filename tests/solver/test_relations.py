"""What is said of relations that given ranks break: facts with numbers, who demands it, and help that was tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.findings.finding import Fix
from placewright.models.findings.span import Edit, Span
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit

from .cases import cluster, component, given, problem
from .few_ranks import EIGHT, demanded, only, ranks


@pytest.mark.parametrize(
    ("question", "message", "help_text"),
    [
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 2, 7), either="actor+rollout", shares=True),
            "actor and rollout share 2 of their 4 and 6 accelerators (first: 2 on node 0)",
            "give rollout `4-7`; or give actor and rollout `0-3`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 7), ranks("rollout", 2, 3), either="actor+rollout", shares=True),
            "actor and rollout share 2 of their 8 and 2 accelerators (first: 2 on node 0)",
            "give actor and rollout `0-7`; or give rollout and actor `2-3`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 2, 7), apart="actor+rollout", shares=True),
            "actor and rollout must be disjoint but share 2 accelerators (first: 2 on node 0)",
            "give actor `0-1`; or give rollout `4-7`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 3, 5), within="rollout+actor", shares=True),
            "rollout uses 2 accelerators that actor does not use (first: 4 on node 0)",
            "give rollout `1-3`; or give rollout `3`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 5, 7), in_sequence="actor rollout", shares=True),
            "rollout begins at accelerator 5 instead of 4, after actor",
            "give actor `0-3`, rollout `4-7`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 4, 5), in_sequence="actor rollout", shares=True),
            "rollout ends at accelerator 5 instead of 7, the last of the cluster",
            "give actor `0-3`, rollout `4-7`",
        ),
        (
            problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), not_fewer="env+rollout", shares=True),
            "env has 4 processes, fewer than the 6 of rollout",
            "give env at least 6 processes, or rollout at most 4",
        ),
    ],
)
def test_a_broken_relation_states_the_numbers_and_what_was_tried(question: Problem, message: str, help_text: str) -> None:
    assert (only(question).message, only(question).help) == (message, help_text)
    finding = only(demanded(question, "the framework"))
    assert (finding.message, finding.notes[-1]) == (message, "demanded by the framework")


def test_one_change_of_the_text_is_an_edit() -> None:
    finding = only(problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 2, 7), either="actor+rollout", shares=True))
    assert finding.edit == Edit(Span("job.yaml", 2, 5, 1, 3), "4-7")


def test_no_change_is_proposed_that_breaks_something_else() -> None:
    question = problem(
        EIGHT,
        ranks("actor", 0, 3),
        replace(ranks("rollout", 2, 7), parallel=component("r", 1, tp=3).parallel),
        either="actor+rollout",
        shares=True,
    )
    finding = only(question)
    assert finding.help == "give actor `0-1`; or give rollout and actor `2-7`"  # neither 4 of `4-7` nor 4 of `0-3` divide by tp 3


def test_components_that_are_written_at_one_place_move_together() -> None:
    actor, rollout = ranks("actor", 0, 3), ranks("rollout", 2, 7)
    reward = replace(rollout, name="reward")
    question = problem(EIGHT, actor, rollout, reward, either="actor+rollout actor+reward", together="reward+rollout", shares=True)
    assert {finding.help for finding in check_explicit(question)} == {"give rollout `4-7`; or give actor and rollout `0-3`"} | {
        "give reward `4-7`; or give actor and reward `0-3`"
    }


@pytest.mark.parametrize(
    ("first", "second", "message", "also"),
    [
        (
            given("a", Run(range(1), 0, first=1), Run(range(1, 2), 0, first=3)),
            (5, 6),
            "a uses 2 of the accelerators 1-3, not one solid range",
            ("b",),
        ),
        (ranks("a", 1, 3), (4, 6), "a begins at accelerator 1 instead of 0", ("b",)),
        (ranks("a", 0, 3), (5, 7), "b begins at accelerator 5 instead of 4, after a", ()),
        (ranks("a", 0, 3), (4, 6), "b ends at accelerator 6 instead of 7, the last of the cluster", ()),
    ],
)
def test_an_order_is_one_fault_of_all_its_components(
    first: Component, second: tuple[int, int], message: str, also: tuple[str, ...]
) -> None:
    question = problem(EIGHT, first, ranks("b", *second), in_sequence="a b", shares=True)
    assert [(finding.message, finding.also) for finding in check_explicit(question)] == [(message, also)]


def test_data_parallel_ranks_inside_a_replica_are_named() -> None:
    odd = given("a", Run(range(6), 0), parallel=Parallel(tp=2, dp=2))
    assert only(problem(EIGHT, odd)).message == "the 6 accelerators of a cannot be divided by tp x pp x cp x dp = 4: 2 would be left"


def test_what_a_dialect_knows_of_the_cause_is_said() -> None:
    fix = Fix("write `tp: 1`", notes=("2 is the default",))
    finding = only(problem(EIGHT, given("a", Run(range(1), 0), parallel=Parallel(tp=2), fixes={"PW208": fix})))
    assert (finding.help, finding.notes) == ("write `tp: 1`", ("2 is the default",))


def on_four(name: str, tp: int, *firsts: int) -> Component:
    """A component on four accelerators of the first node, in runs of equal length that begin at these."""
    size = 4 // len(firsts)
    runs = [Run(range(number * size, (number + 1) * size), 0, first=first) for number, first in enumerate(firsts)]
    return given(name, *runs, parallel=Parallel(tp=tp))


@pytest.mark.parametrize(
    ("first", "second", "help_text"),
    [
        (on_four("a", 2, 0), on_four("b", 4, 0), "interleave the groups of a with `stride: 2`"),
        (on_four("a", 4, 0), on_four("b", 2, 0), "interleave the groups of b with `stride: 2`"),
        (on_four("a", 2, 0), on_four("b", 2, 1, 0, 3, 2), "give b its ranks in the order of a"),
    ],
)
def test_weights_that_do_not_meet_are_interleaved_or_put_in_order(first: Component, second: Component, help_text: str) -> None:
    assert only(problem(EIGHT, first, second, in_place="a+b")).help == help_text


def test_the_first_rank_on_an_excluded_node_is_named_wherever_the_ranks_begin() -> None:
    runs = [Run(range(2 * number, 2 * number + 2), number + 1) for number in range(3)]
    question = problem(cluster(*[{"count": 2}] * 4), given("a", *runs, excluded=(2,)))
    assert only(question).message == "rank 2 of a is on node 2, which is excluded"


def test_the_first_rank_that_goes_back_in_its_range_is_named() -> None:
    descending = given("a", Run(range(4), 0, first=3, pitch=-1), contiguous=True)
    assert only(problem(EIGHT, descending)).message == "rank 1 of a comes before lower ranks in its range"
