"""Ctrl-C while designs are searched and placed: nothing is searched after it, and what was placed is told with a bound that holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from placewright.models.answer import Answer
from placewright.models.problem import Problem
from placewright.planner.plan import plan
from placewright.planner.search.search import search
from placewright.solver.searching.search import solve
from placewright.solver.session import Session

from ...unhindered import unhindered
from ..test_traffic import drawn

pytestmark = pytest.mark.usefixtures("interruptible")
SEEDS = range(8)
RACKS = """\
cluster:
  nodes:
    - {repeat: 4, accelerators: {count: 8, model: H100}, topology: {rack: a}}
    - {repeat: 4, accelerators: {count: 8, model: H100}, topology: {rack: b}}
    - {repeat: 3, accelerators: {count: 8, model: H100}, topology: {rack: c}}
components:
  gen: {accelerators: 4-64, seconds: {generate: {8: 160, 32: 52}}, memory: 60GiB, parallel: {tp: [2, 4]}}
  ref: {accelerators: 2-32, seconds: {infer: {4: 60, 16: 20}}, memory: 40GiB, traffic: 1GiB}
  pol: {accelerators: 8-64, seconds: {train: {16: 80, 48: 34}}, memory: 70GiB, parallel: {tp: 4}, traffic: 13GiB}
links:
  - {from: pol, to: gen, weights: 15GiB}
  - {from: gen, to: ref, stream: 100MiB}
plan: {workflow: [gen -> ref => pol], batches: 16, bandwidth: {node: 4GiB, rack: 1GiB}}
"""
LIAR = Path(__file__).parents[2] / "solver" / "sandbox" / "liar.py"
COMMAND = """\
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from placewright.cli.main import run
from placewright.solver.sandbox import solve as sandbox
liar, *arguments = sys.argv[1:]
def command(memory):
    with open("started", "a") as file:
        file.write("a search\\n")
    return (sys.executable, liar, "hang later", "pid", str(memory))
sandbox.command = command
sys.exit(run(arguments))
"""
"""A command line whose searches find the right answer and then hang; it writes down that each was started."""


def placing(at: int, session: Session) -> tuple[Callable[[Problem], Answer], list[bool]]:
    """Places, with a Ctrl-C in placement number `at`; and of each placement whether it was begun after one."""
    calls: list[bool] = []

    def place(problem: Problem) -> Answer:
        calls.append(session.cancelled)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGINT)
        return solve(problem)

    return place, calls


def test_nothing_is_placed_after_it_and_the_bound_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = unproved = 0
    for seed in SEEDS:
        asked, workload = drawn(seed)
        place, calls = placing(0, Session())
        whole = plan(asked.with_workload(workload), place).planned
        assert whole is not None and not any(calls)
        for at in range(1, len(calls) + 1):
            with Session() as session:
                place, calls = placing(at, session)
                answer = plan(asked.with_workload(workload), place, session=session)
            assert session.cancelled and not any(calls[at:]), (seed, at)
            assert "PW602" in {finding.code for finding in answer.findings}
            if answer.planned is None:
                continue
            assert answer.planned.bound <= whole.price[0] <= answer.planned.price[0], (seed, at)
            stopped += 1
            unproved += not answer.planned.proved
    assert stopped > 10 and unproved > 0


def test_what_was_found_when_it_came_is_placed_where_that_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in SEEDS:
        asked, workload = drawn(seed)
        with monkeypatch.context() as patched:
            patched.setattr("placewright.planner.benders.search", interrupted_after(search))
            with Session() as session:
                place, calls = placing(0, session)
                answer = plan(asked.with_workload(workload), place, session=session)
        assert session.cancelled and calls and all(calls)
        assert answer.plan is not None and "PW602" in {finding.code for finding in answer.findings}


def interrupted_after(searched: Callable[..., object]) -> Callable[..., object]:
    def interrupted(*arguments: object, **options: object) -> object:
        found = searched(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return found

    return interrupted


@pytest.mark.slow
@pytest.mark.parametrize("further", [(), ("--top", "5"), ("--why", "gen")], ids=["plan", "alternatives", "reasons"])
def test_a_command_ends_with_the_best_and_starts_no_other_search(tmp_path: Path, further: tuple[str, ...]) -> None:
    code, out, err, seconds = interrupted(tmp_path, 1, *further)
    assert code == 0 and "PW602" in err and seconds < 8  # a busy machine; at rest it is well below one
    out = " ".join(out.split())
    assert " of the best possible" in out and "times of one component are wrong" not in out
    assert (tmp_path / "started").read_text() == "a search\n"


def test_a_second_one_ends_the_command(tmp_path: Path) -> None:
    code, _, err, _ = interrupted(tmp_path, 2)
    assert code == 130 and err.endswith("interrupted\n") and "Traceback" not in err


def interrupted(folder: Path, times: int, *arguments: str) -> tuple[int, str, str, float]:
    """A solve that is interrupted while its first placement hangs: exit code, what it wrote, and real seconds from then on."""
    (folder / "job.yaml").write_text(RACKS)
    command = [sys.executable, "-c", COMMAND, str(LIAR), "solve", "job.yaml", "--limit", "60", *arguments]
    with subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        for _ in range(2400):
            if (folder / "pid").exists():
                break
            time.sleep(0.05)
        time.sleep(1.0)
        began = unhindered()
        parent.send_signal(signal.SIGINT)
        assert parent.stderr is not None
        first = parent.stderr.readline()  # what is said of the first one: it was heard
        if times > 1:
            parent.send_signal(signal.SIGINT)
        assert parent.stdout is not None
        err, out = first + parent.stderr.read(), parent.stdout.read()  # `communicate` loses what came in one piece with the first line
        return parent.wait(120), out, err, unhindered() - began
