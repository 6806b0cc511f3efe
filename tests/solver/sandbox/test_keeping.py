"""One process answers many questions, as many would; whatever becomes of it, the next question has an answer, and nothing is left running."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.models.problem import Problem
from placewright.solver import enumeration, process
from placewright.solver.sandbox import dialogue as talking
from placewright.solver.sandbox import solve as sandbox
from placewright.solver.sandbox.end_reasons import report_death
from placewright.solver.sandbox.messages import SolveRequest
from placewright.solver.searching.progress import silent
from placewright.solver.searching.search import solve as search
from placewright.solver.session import Session

from .test_ending import OPEN, is_running, read_problem

SERVING = """\
import os, sys, time
from placewright.models.answer import UNDECIDED, Answer
from placewright.models.findings.finding import error
from placewright.solver.sandbox.child import main
from placewright.solver.searching.search import solve

asked = []

def search(problem, limit, seed, tell):
    asked.append(problem)
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()} {len(asked)}\\n")
    if len(asked) == 2:
        {what}
    return solve(problem, limit, seed, tell)

main(search)
"""
"""A process that searches honestly, but for the second question that it is asked."""
TRAFFIC = """\
cluster: {nodes: [{repeat: 2, accelerators: {count: 2, model: H100}}]}
components:
  a: {accelerators: 1-4, parallel: {tp: [1, 2]}, seconds: {2: 14, 4: 10}, scaling: table, traffic: 8GiB}
  b: {accelerators: 1-4, parallel: {tp: [1, 2]}, seconds: {2: 41, 4: 37}, scaling: table, samples: 12}
  c: {accelerators: 1-4, seconds: {3: 18}, memory: 51GiB, spread: {level: node, domains: 2}}
links: [{from: a, to: b, weights: 20GiB}]
plan: {workflow: a -> b, batches: 4, minimise: accelerators, bandwidth: {node: 2GiB}}
"""


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    (tmp_path / "job.yaml").write_text(OPEN)
    return read_problem(tmp_path)


def serving(folder: Path, what: str) -> tuple[str, ...]:
    (folder / "serving.py").write_text(SERVING.replace("{what}", what))
    return (sys.executable, str(folder / "serving.py"), str(folder / "log"), "4096")


def log(folder: Path) -> list[list[int]]:
    """The process and how many questions it was asked until then, of each question."""
    return [[int(word) for word in line.split()] for line in (folder / "log").read_text().splitlines()]


def test_one_process_answers_until_the_session_ends(problem: Problem, tmp_path: Path) -> None:
    command = serving(tmp_path, "pass")
    expected = search(problem)
    with Session() as session:
        answers = [sandbox.solve(problem, child=command, session=session) for _ in range(3)]
        (number, *_), *others = log(tmp_path)
        assert [[number, 2], [number, 3]] == others and is_running(number)
    assert not is_running(number)
    assert {each.plan and each.plan.digest for each in answers} == {expected.plan and expected.plan.digest}
    sandbox.solve(problem, child=command)
    *_, (last, count) = log(tmp_path)
    assert count == 1 and last != number and not is_running(last)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["os.abort()", "sys.exit(1)", "raise MemoryError", "os._exit(0)"])
def test_what_ends_at_a_later_question_is_no_answer(what: str, problem: Problem, tmp_path: Path) -> None:
    """Another process would not have ended: it is asked."""
    with Session() as session:
        for _ in range(2):
            answer = sandbox.solve(problem, child=serving(tmp_path, what), session=session)
            assert answer.plan is not None and not answer.findings
    (first, _), (again, second), (other, count) = log(tmp_path)
    assert first == again and second == 2 and other != first and count == 1


@pytest.mark.slow
@pytest.mark.parametrize(("what", "code"), [("raise KeyError", "PW610"), ("print(1); time.sleep(60)", "PW602")])
def test_what_lies_or_hangs_at_a_later_question_is_ended(what: str, code: str, problem: Problem, tmp_path: Path) -> None:
    command = serving(tmp_path, what)
    with Session() as session:
        assert not sandbox.solve(problem, child=command, session=session).findings
        told = sandbox.solve(problem, limit=0.1, child=command, session=session)
        assert [finding.code for finding in told.findings] == [code]
        (number, _), *_ = log(tmp_path)
        assert not is_running(number)
        assert not sandbox.solve(problem, child=command, session=session).findings


def test_another_process_has_the_time_that_is_left(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, given = iter([10.0, 13.0]), list[float]()

    def answer(*asked: object) -> Answer:
        *_, seconds = asked
        assert isinstance(seconds, float)
        given.append(seconds)
        if len(given) == 1:
            raise report_death(1, "", 4096)
        return Answer("feasible")

    monkeypatch.setattr(talking, "monotonic", lambda: next(clock))
    monkeypatch.setattr(Session, "has_waiting", lambda session, child: True)
    monkeypatch.setattr(talking, "_answer", answer)
    assert talking.talk(Session(), (), SolveRequest(problem, 4.0, 1), silent, 4096) == Answer("feasible")
    assert given == [11.0, 8.0]


def test_ctrl_c_ends_the_process_too(problem: Problem, tmp_path: Path) -> None:
    command = serving(tmp_path, "os.kill(os.getppid(), 2); time.sleep(60)")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Session() as session:
            sandbox.solve(problem, child=command, session=session)
            told = sandbox.solve(problem, child=command, session=session)
            (number, _), *_ = log(tmp_path)
            assert "stopped by Ctrl-C" in told.findings[0].message and not is_running(number)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_plan_with_traffic_starts_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many placements of it are searched, where they are not so small that everything is tried."""
    started: list[object] = []
    begin = process.Child.__init__

    def counted(self: process.Child, *given: object) -> None:
        started.append(given)
        begin(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(process.Child, "__init__", counted)
    monkeypatch.setattr(enumeration, "MOST_ACCELERATORS", 0)
    file = tmp_path / "job.yaml"
    file.write_text(TRAFFIC, encoding="utf-8")
    answer = pw.solve(str(file))
    assert answer.planned is not None and answer.planned.proved
    assert len(started) == 1
