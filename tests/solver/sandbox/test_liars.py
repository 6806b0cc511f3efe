"""A search that lies, crashes, hangs or takes all memory: what is said then is right, and nothing is left running."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterator

import pytest
from placewright.models.answer import Answer
from placewright.models.placements.plan import FEASIBLE
from placewright.models.problem import Problem
from placewright.solver import process
from placewright.solver.check import check
from placewright.solver.sandbox import solve as sandbox
from placewright.solver.sandbox.trust import InvalidWorkerResult, Trust
from placewright.solver.searching.progress import Incumbents
from placewright.solver.searching.search import solve as in_process

from ...unhindered import unhindered
from ..cases import cluster, component, problem

LIAR = Path(__file__).with_name("liar.py")
RACKS = cluster(*({"count": 4, "rack": rack} for rack in "aaabbb"))
GUESSED = problem(RACKS, component("a", 8), component("b", 8, tp=4), component("c", 7))
"""Greedy finds an answer that it cannot prove."""
OPEN = problem(
    cluster({"count": 5}, *({"count": 4} for _ in range(6))),
    component("a", 3, contiguous=True), component("b", 5, tp=5), component("c", 7, contiguous=True), component("d", 4, 8, tp=4),
)  # fmt: skip
"""Greedy finds none."""
TOO_MUCH = problem(OPEN.cluster, *OPEN.components[:3], component("d", 16, tp=4))
"""A sum shows that there is none; what would help is searched."""


def asked(question: Problem, lie: str, limit: float = 10.0, memory: int = 1024, *more: str) -> Answer:
    return sandbox.solve(question, limit, memory=memory, child=[sys.executable, str(LIAR), lie, *more, str(memory)])


def children() -> list[int]:
    """The processes that this one has started and that are still there."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                parent = int(each.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
                continue
            found += [int(each.name)] if parent == os.getpid() else []
    return found


@pytest.fixture(autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    before = children()
    yield
    assert children() == before


def must_be_the_guess(answer: Answer) -> None:
    """The best that was verified before: the greedy one, which is called no better than it is."""
    assert answer.verdict == FEASIBLE and answer.plan is not None and answer.plan.status == FEASIBLE
    assert (answer.plan.objective, answer.plan.bound) == (1, 0)
    assert not list(check(GUESSED, answer.plan.assignment))


def test_an_honest_search_gives_the_same_as_in_this_process() -> None:
    for question in (GUESSED, OPEN):
        one, other = sandbox.solve(question), in_process(question)
        assert one.plan is not None and other.plan is not None
        assert (one.verdict, one.plan.digest, one.plan.terms, one.unchecked) == (
            other.verdict,
            other.plan.digest,
            other.plan.terms,
            other.unchecked,
        )


WRONG = {
    "impossible": "it says impossible, and an answer of 1 is known",
    "no reason": "it says impossible, without a plan and without a reason",
    "no plan": "it says optimal, without a plan and without a reason",
    "overlap": "PW201 ",
    "outside": "`a` is on a node that the plan's cluster does not have",
    "no such accelerator": "`a` holds resources that node ",
    "endless ranks": "it has more than 1,048,576 processes",
    "missing": "its components are others than those that were to be placed",
    "cheaper": "its objective is not that of its placements",
    "other seed": "its seed is another",
    "degrees": "it chose parallel degrees that were no choice",
    "bound above": "its bound is above its own objective",
    "not optimal": "it says optimal, with an objective of 1 and a bound of 0",
    "verified": "it says verified, with an objective of 1 and a bound of 1",
    "babble": "it does not speak as it should: it is not JSON",
    "other words": "it does not speak as it should",
    "too much": "it does not speak as it should",
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", WRONG)
def test_a_wrong_answer_is_refused_and_the_best_verified_one_is_kept(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_BYTES", 4 << 20)
    answer = asked(GUESSED, lie)
    (finding,) = answer.findings
    assert finding.code == "PW610" and WRONG[lie] in finding.message
    must_be_the_guess(answer)


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["overlap", "outside", "cheaper", "no plan", "wrong sum"])
def test_without_a_verified_answer_a_wrong_one_leaves_it_undecided(lie: str) -> None:
    answer = asked(OPEN, lie)
    assert (answer.verdict, answer.plan, [finding.code for finding in answer.findings]) == ("undecided", None, ["PW610"])


STOPPED = {
    "crash": "the solver crashed with SIGABRT (*** \x1b[31mred)",
    "exit": "the solver crashed with exit code 0 (it said nothing)",
    "killed": "the search was killed from outside, as a system does that has no memory left",
    "devour": "the search wanted more than 1 GiB of memory",
    "bad_alloc": "the search wanted more than 1 GiB of memory",
    "hang": "the search did not keep to its limit, and was killed after 2.225 s",
    "deaf": "the search did not keep to its limit, and was killed after 2.225 s",
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", STOPPED)
def test_a_search_that_ends_without_an_answer_leaves_it_undecided_and_never_impossible(lie: str) -> None:
    began = unhindered()
    answer = asked(OPEN, lie, limit=0.1 if "was killed after" in STOPPED[lie] else 10.0)
    assert unhindered() - began < 20
    (finding,) = answer.findings
    assert (answer.verdict, answer.plan, finding.code, finding.severity.value) == ("undecided", None, "PW602", "error")
    assert finding.message == f"undecided: {STOPPED[lie]} before a placement or a proof was found"
    assert finding.help


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["crash later", "exit 7 later", "hang later", "devour later"])
def test_what_was_verified_before_the_end_is_the_answer(lie: str) -> None:
    """It is the better one that the search itself told of, with the bound that was proved by then."""
    answer = asked(OPEN, lie, limit=0.5)
    (finding,) = answer.findings
    assert (finding.code, finding.severity.value) == ("PW602", "warning")
    assert finding.message.endswith(": the best verified answer until then is shown")
    honest = in_process(OPEN).plan
    assert honest is not None and answer.plan is not None and not list(check(OPEN, answer.plan.assignment))
    assert answer.plan.objective == honest.objective and answer.verdict == answer.plan.status


@pytest.mark.slow
@pytest.mark.parametrize(("lie", "codes"), [("crash", ["PW601", "PW602"]), ("raises", ["PW601", "PW610"]), ("babble", ["PW601", "PW610"])])
def test_a_sum_that_was_counted_here_survives_whatever_ends_the_search(lie: str, codes: list[str]) -> None:
    answer = asked(TOO_MUCH, lie)
    assert (answer.verdict, answer.plan, [finding.code for finding in answer.findings]) == ("impossible", None, codes)
    assert answer.findings[0].message == "impossible: a, b, c and d need 31 accelerators, the cluster has 29"
    honest = sandbox.solve(TOO_MUCH)
    assert honest == in_process(TOO_MUCH) and honest.findings[0].message == answer.findings[0].message


def test_nothing_is_an_answer_to_what_a_sum_shows_to_be_impossible() -> None:
    honest, trust = in_process(GUESSED).plan, Trust(GUESSED, 1)
    assert honest is not None and trust.plan(honest) == honest
    trust = Trust(GUESSED, 1)
    trust.hear(Incumbents(None, 0, 0.0, refuted=True))
    with pytest.raises(InvalidWorkerResult, match="impossible"):
        trust.plan(honest)


@pytest.mark.parametrize("lie", ["raises", "raises later"])
def test_a_fault_of_our_own_in_the_search_is_called_that(lie: str) -> None:
    answer = asked(OPEN, lie)
    (finding,) = answer.findings
    assert finding.code == "PW610"
    assert finding.message.startswith("the search itself failed: KeyError: 'no such thing' (liar.py, line ")
    assert (answer.plan is not None) == (lie == "raises later")


def test_what_libraries_print_is_no_part_of_the_answer() -> None:
    answer = asked(OPEN, "chatter")
    assert answer.verdict == "undecided" and [finding.message for finding in answer.findings] == ["undecided"]


def test_one_infeasible_is_no_proof() -> None:
    """CP-SAT calls every model infeasible as long as it may presolve."""
    assert asked(OPEN, "presolve").verdict in ("undecided", "feasible", "optimal")
    answer = asked(GUESSED, "presolve")
    assert answer.plan is not None and not list(check(GUESSED, answer.plan.assignment))


def test_two_infeasibles_do_not_contradict_an_answer_that_is_known() -> None:
    answer = asked(GUESSED, "twice")
    assert answer.verdict != "impossible"


def test_a_question_that_nobody_reads_does_not_wait_for_ever() -> None:
    command = [sys.executable, str(LIAR), "deaf", "2048"]
    with process.Child(command, b"x" * (4 << 20), 0.5) as child, pytest.raises(process.TooLate):
        list(child.lines())


def test_a_search_that_cannot_be_started_is_undecided() -> None:
    answer = sandbox.solve(OPEN, child=["/no/such/program"])
    (finding,) = answer.findings
    assert answer.verdict == "undecided" and finding.message.startswith("undecided: the search could not be started (No such file")
