"""What is said of relations and shares: facts with numbers, who demands it, and help that was tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.findings.finding import Finding, Severity
from placewright.models.findings.fix import Fix
from placewright.models.findings.span import Edit, Span
from placewright.models.job import Capabilities
from placewright.models.placements.assignment import Assignment, Run
from placewright.models.problem import Problem
from placewright.solver.searching.search import solve
from placewright.solver.verify import check_given

from .cases import cluster, component, given, problem, share

EIGHT = cluster({"count": 8})
TWO_NODES = cluster({"count": 8}, {"count": 8})


def ranks(name: str, first: int, last: int) -> Component:
    """A component on these accelerators of the first node, written at a place of its own."""
    its = given(name, Run(range(last - first + 1), 0, first=first))
    return replace(its, spans={"placement": Span("job.yaml", first, first + 3, 1, first + 1)})


def demanded(question: Problem, reason: str) -> Problem:
    """The same, with somebody who demands the relations."""
    relations = tuple(replace(relation, reason=reason) for relation in question.job.relations)
    return replace(question, job=replace(question.job, relations=relations))


def only(question: Problem) -> Finding:
    (finding,) = check_given(question)
    return finding


@pytest.mark.parametrize(
    ("question", "message", "help_text"),
    [
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 2, 7), either="actor+rollout", shares=True),
            "actor and rollout share 2 accelerators (first: 2 on node 0), but actor has 4 and rollout 6; they must use the same ones or none in common",
            "give rollout `4-7`; or give actor and rollout `0-3`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 7), ranks("rollout", 2, 3), either="actor+rollout", shares=True),
            "actor and rollout share 2 accelerators (first: 2 on node 0), but actor has 8 and rollout 2; they must use the same ones or none in common",
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
            "rollout begins at accelerator 5; after actor it must begin at 4",
            "give actor `0-3`, rollout `4-7`",
        ),
        (
            problem(EIGHT, ranks("actor", 0, 3), ranks("rollout", 4, 5), in_sequence="actor rollout", shares=True),
            "rollout ends at accelerator 5; the cluster ends at 7",
            "give actor `0-3`, rollout `4-7`",
        ),
        (
            problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), not_fewer="env+rollout", shares=True),
            "env has 4 processes and rollout 6; env must have at least as many",
            "give env at least 6 processes, or rollout at most 4",
        ),
    ],
)
def test_a_broken_relation_states_the_numbers_and_what_was_tried(question: Problem, message: str, help_text: str) -> None:
    assert (only(question).message, only(question).help) == (message, help_text)
    assert only(demanded(question, "the framework")).message == f"{message}; the framework demands it"


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
    assert {finding.help for finding in check_given(question)} == {"give rollout `4-7`; or give actor and rollout `0-3`"} | {
        "give reward `4-7`; or give actor and reward `0-3`"
    }


def test_every_fault_of_an_order_is_told() -> None:
    question = problem(
        EIGHT, given("a", Run(range(1), 0, first=1), Run(range(1, 2), 0, first=3)), ranks("b", 5, 6), in_sequence="a b", shares=True
    )
    assert [finding.message for finding in check_given(question)] == [
        "a uses 2 of the accelerators 1-3; in order with others it is one solid range",
        "a begins at accelerator 1; it must begin at 0",
        "b begins at accelerator 5; after a it must begin at 4",
        "b ends at accelerator 6; the cluster ends at 7",
    ]


@pytest.mark.parametrize(
    ("amount", "multiple", "message", "help_text"),
    [
        (
            6,
            2,
            "6 environments over the 2 processes of env are 3 each, no multiple of group_size 2",
            "set `total_num_envs` to 4 or 8, or give env 1 or 3 processes",
        ),
        (5, 1, "5 environments over the 2 processes of env leave 1 over", "set `total_num_envs` to 4 or 6, or give env 1 or 5 processes"),
        (
            5,
            2,
            "5 environments over the 2 processes of env leave 1 over; each share must be a multiple of group_size 2",
            "set `total_num_envs` to 4 or 8",
        ),
        (1, 1, "1 environments are fewer than the 2 processes of env", "set `total_num_envs` to 2, or give env 1 process"),
    ],
)
def test_a_share_that_is_uneven_names_the_nearest_that_are_not(amount: int, multiple: int, message: str, help_text: str) -> None:
    finding = only(problem(EIGHT, ranks("env", 0, 1), dealt=(share("env", amount, multiple, reason="noticed late"),)))
    assert (finding.message, finding.help, finding.notes) == (message, help_text, ("noticed late",))
    assert finding.severity is Severity.ERROR


def test_amounts_that_are_proposed_suit_all_that_share_them() -> None:
    shares = (share("env", 10, 2), share("rollout", 10))
    first, second = check_given(problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), dealt=shares, shares=True))
    assert first.help.startswith("set `total_num_envs` to 24")
    for amount in (24,):
        fine = tuple(replace(each, amount=amount) for each in shares)
        assert not check_given(problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), dealt=fine, shares=True))
    assert second.subject == "rollout"


def test_what_is_not_proved_is_a_warning_of_given_ranks_and_binds_the_search() -> None:
    uneven = share("env", 6, proved=False)
    assert only(problem(EIGHT, ranks("env", 0, 3), dealt=(uneven,))).severity is Severity.WARNING
    plan = solve(problem(EIGHT, component("env", 1, 5), dealt=(uneven,))).plan
    assert plan is not None
    assert plan.assignment.world_size("env") == 3


def test_groups_over_nodes_are_a_warning_where_the_framework_lets_them() -> None:
    torn = given("a", Run(range(1), 0), Run(range(1, 2), 1), parallel=component("a", 1, tp=2).parallel)
    assert only(problem(TWO_NODES, torn)).severity is Severity.ERROR
    finding = only(problem(TWO_NODES, torn, crossing=True))
    assert finding.severity is Severity.WARNING
    assert finding.message == "tp group 0 of a (2 accelerators) lies on nodes 0 and 1: slow, but not refused"
    plan = solve(problem(cluster({"count": 3}, {"count": 3}), component("a", 4, tp=2), crossing=True)).plan
    assert plan is not None
    assert [mask.bit_count() for mask in plan.assignment.masks("a").values()] == [2, 2]


def test_a_process_over_nodes_is_a_warning_where_the_framework_lets_it_and_says_that_of_its_groups_too() -> None:
    torn = given("a", Run(range(1), 0, first=6, each=2), Run(range(1), 1, each=2), per_process=4, parallel=component("a", 4, tp=4).parallel)
    assert {finding.code for finding in check_given(problem(TWO_NODES, torn))} == {"PW202", "PW203"}
    finding = only(problem(TWO_NODES, torn, crossing=True))
    assert (finding.code, finding.severity) == ("PW203", Severity.WARNING)
    assert finding.message == "process 0 of a lies on nodes 0 and 1: slow, but not refused"


def engine(size: int, *runs: Run) -> Component:
    """A rollout whose replicas have `size` accelerators."""
    return given("rollout", *runs, role="rollout", parallel=component("rollout", 1, tp=size).parallel)


THREE_NODES = cluster({"count": 9}, {"count": 9}, {"count": 9})


@pytest.mark.parametrize(
    ("size", "held", "message"),
    [
        (6, (8, 8, 8), "replica 1 of rollout (tp 6: 6 accelerators) has 2 on node 0 and 4 on node 1 (2 replicas do)"),
        (6, (9, 9, 6), "replica 1 of rollout (tp 6: 6 accelerators) has 3 on node 0 and 3 on node 1"),  # even, but not on whole nodes
        (12, (8, 8, 8), "replica 0 of rollout (tp 12: 12 accelerators) has 8 on node 0 and 4 on node 1 (2 replicas do)"),
        (5, (6, 4), "replica 1 of rollout (tp 5: 5 accelerators) has 1 on node 0 and 4 on node 1"),
        (8, (8, 8, 8), ""),
        (16, (8, 8), ""),
        (8, (4, 4), ""),
        (4, (8, 4), ""),
    ],
)
def test_a_replica_lies_inside_one_node_or_on_whole_nodes(size: int, held: tuple[int, ...], message: str) -> None:
    starts = [sum(held[:position]) for position in range(len(held))]
    runs = [Run(range(start, start + count), node) for node, (start, count) in enumerate(zip(starts, held))]
    found = check_given(problem(THREE_NODES, engine(size, *runs), crossing=True, whole=True))
    told = [finding.message for finding in found if finding.code == "PW214"]
    assert told == ([f"{message}; it must lie inside one node or on whole nodes"] if message else [])
    assert not [finding for finding in check_given(problem(THREE_NODES, engine(size, *runs), crossing=True)) if finding.code == "PW214"]


def test_replicas_that_are_searched_are_whole_on_one_node() -> None:
    plan = solve(problem(THREE_NODES, component("rollout", 18, tp=3, pp=2, role="rollout"), whole=True)).plan
    assert plan is not None
    assert [mask.bit_count() for mask in plan.assignment.masks("rollout").values()] == [6, 6, 6]
    answer = solve(problem(THREE_NODES, component("rollout", 18, tp=3, pp=6, role="rollout"), whole=True))
    assert [finding.message for finding in answer.findings] == [
        "not searched: a replica of rollout is 18 accelerators, the largest node has 9; replicas over whole nodes are not searched"
    ]


def test_data_parallel_ranks_inside_a_replica_are_named() -> None:
    odd = given("a", Run(range(6), 0), parallel=Parallel(tp=2, dp=2))
    assert only(problem(EIGHT, odd)).message == "the 6 accelerators of a cannot be divided by tp x pp x cp x dp = 4: 2 would be left"


def test_what_a_dialect_knows_of_the_cause_is_said() -> None:
    fix = Fix("write `tp: 1`", notes=("2 is the default",))
    finding = only(problem(EIGHT, given("a", Run(range(1), 0), parallel=Parallel(tp=2), fixes={"PW208": fix})))
    assert (finding.help, finding.notes) == ("write `tp: 1`", ("2 is the default",))


def test_processes_that_reserve_cpus_are_counted_where_they_begin() -> None:
    where = cluster({"count": 4, "cpus": 4}, {"count": 4, "cpus": 4}, {"count": 4})
    runs = (Run(range(1), 0, first=2, each=2), Run(range(1), 1, each=2), Run(range(1, 2), 1, first=2, each=2), Run(range(2, 4), 2))
    torn = given("a", *runs, cpus=4)
    assert torn.runs is not None and Assignment({"a": torn.runs}).processes_on("a") == {0: 1, 1: 1, 2: 2}
    assert not [finding for finding in check_given(problem(where, torn, crossing=True)) if finding.code == "PW502"]


def test_findings_say_once_when_the_framework_would_notice() -> None:
    question = problem(EIGHT, ranks("env", 0, 1), dealt=(share("env", 5), share("env", 7, reason="at the first rollout")))
    notices = Capabilities(shares_accelerators=True, notices={"PW401": "at the first rollout"})
    told = check_given(replace(question, job=replace(question.job, capabilities=notices)))
    assert [finding.notes for finding in told] == [("at the first rollout",), ("at the first rollout",)]
    assert [finding.notes for finding in check_given(question)] == [(), ("at the first rollout",)]


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


def test_shares_are_reached_without_a_solver() -> None:
    answer = solve(problem(TWO_NODES, component("env", 1, 14), dealt=(share("env", 48, 2),)))
    assert answer.plan is not None
    assert (answer.verdict, answer.how, answer.plan.assignment.world_size("env")) == ("optimal", "greedy", 12)


def test_many_lengths_prove_nothing_where_more_is_needed() -> None:
    wide = cluster(*[{"count": 8}] * 40)
    answer = solve(problem(wide, component("a", 1, 319, contiguous=True), component("b", 1, 319, contiguous=True), in_sequence="a b"))
    assert answer.verdict != "impossible"
