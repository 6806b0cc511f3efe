"""What is said of shares that are uneven: the numbers, who would notice when, and amounts that were tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.job import Capabilities
from placewright.solver.check import check_explicit
from placewright.solver.searching.search import solve

from .cases import component, problem, share
from .few_ranks import EIGHT, TWO_NODES, only, ranks


@pytest.mark.parametrize(
    ("amount", "multiple", "message", "help_text"),
    [
        (
            6,
            2,
            "6 environments over the 2 processes of env are 3 each, no multiple of 2",
            "set `total_num_envs` to 4 or 8, or give env 1 or 3 processes, or set `group_size` to 1 or 3",
        ),
        (5, 1, "5 environments over the 2 processes of env leave 1 over", "set `total_num_envs` to 4 or 6, or give env 1 or 5 processes"),
        (
            5,
            2,
            "5 environments over the 2 processes of env leave 1 over",
            "set `total_num_envs` to 4 or 8",
        ),
        (7, 1, "7 environments over the 2 processes of env leave 1 over", "set `total_num_envs` to 6 or 8, or give env 1 or 7 processes"),
        (1, 1, "1 environment is fewer than the 2 processes of env", "set `total_num_envs` to 2, or give env 1 process"),
    ],
)
def test_a_share_that_is_uneven_names_the_nearest_that_are_not(amount: int, multiple: int, message: str, help_text: str) -> None:
    finding = only(problem(EIGHT, ranks("env", 0, 1), dealt=(share("env", amount, multiple, reason="noticed late"),)))
    divisor = ("each share must be a multiple of group_size 2",) if multiple > 1 else ()
    assert (finding.message, finding.help, finding.notes) == (message, help_text, (*divisor, "noticed late"))
    assert finding.severity is Severity.ERROR


def test_amounts_that_are_proposed_suit_all_that_share_them() -> None:
    shares = (share("env", 10, 2), share("rollout", 10))
    first, second = check_explicit(problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), dealt=shares, shares=True))
    assert first.help.startswith("set `total_num_envs` to 24")
    for amount in (24,):
        fine = tuple(replace(each, amount=amount) for each in shares)
        assert not check_explicit(problem(EIGHT, ranks("env", 0, 3), ranks("rollout", 0, 5), dealt=fine, shares=True))
    assert second.subject == "rollout"


def test_what_is_not_proved_is_a_warning_of_given_ranks_and_binds_the_search() -> None:
    uneven = share("env", 6, proved=False)
    assert only(problem(EIGHT, ranks("env", 0, 3), dealt=(uneven,))).severity is Severity.WARNING
    plan = solve(problem(EIGHT, component("env", 1, 5), dealt=(uneven,))).plan
    assert plan is not None
    assert plan.assignment.world_size("env") == 3


def test_findings_say_once_when_the_framework_would_notice() -> None:
    question = problem(EIGHT, ranks("env", 0, 1), dealt=(share("env", 5), share("env", 7, reason="at the first rollout")))
    notices = Capabilities(shares_accelerators=True, notices={"PW401": "at the first rollout"})
    told = check_explicit(replace(question, job=replace(question.job, capabilities=notices)))
    assert [finding.notes for finding in told] == [("at the first rollout",), ("at the first rollout",)]
    assert [finding.notes for finding in check_explicit(question)] == [(), ("at the first rollout",)]


def test_shares_are_reached_without_a_solver() -> None:
    answer = solve(problem(TWO_NODES, component("env", 1, 14), dealt=(share("env", 48, 2),)))
    assert answer.plan is not None
    assert (answer.verdict, answer.how, answer.plan.assignment.world_size("env")) == ("optimal", "greedy", 12)
