"""Ctrl-C while the account of a plan is made ends the account's searches, not the answer."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from placewright.api import question_of, solver
from placewright.cli.output.plan import account_of
from placewright.planner import accounting
from placewright.planner import sensitivity as searching_again
from placewright.solver.session import Session

FILE = "cluster: 1x8xH100\ncomponents:\n  rollout: {seconds: {8: 20}}\n  actor: {seconds: {8: 10}}\nplan: {workflow: rollout => actor}\n"


@pytest.mark.usefixtures("interruptible")
def test_what_is_known_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(FILE)

    def interrupted(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    problem = question_of(path).problem
    solve = solver(10.0, 1, sandbox=False)
    answer = solve(problem)
    blocks, data, *_ = account_of(problem, answer, 10.0, solve, True)
    monkeypatch.setattr(accounting, "sensitivity", interrupted)
    with Session() as session:
        fewer, less, *_ = account_of(problem, answer, 10.0, solver(10.0, 1, sandbox=False, session=session), True)
    assert session.cancelled
    assert [block for block in blocks if not block.startswith("plan holds if ")] == fewer != blocks
    planned, without = data["planned"], less["planned"]
    assert isinstance(planned, dict) and isinstance(without, dict)
    assert {name: value for name, value in planned.items() if name != "sensitivity"} == without


@pytest.mark.usefixtures("interruptible")
def test_what_was_not_decided_is_told_where_ctrl_c_ends_the_further_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(FILE)

    def interrupted(*arguments: object, **more: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    problem = question_of(path).problem
    answer = solver(10.0, 1, sandbox=False)(problem)
    monkeypatch.setattr(searching_again, "search", interrupted)
    with Session() as session:
        blocks, data, *_ = account_of(problem, answer, 10.0, solver(10.0, 1, sandbox=False, session=session), True)
    assert session.cancelled
    assert any("not all changes are known: the search ended before it decided " in block for block in blocks)
    planned = data["planned"]
    assert isinstance(planned, dict)
    assert planned["sensitivity"]["not_searched"] and not planned["sensitivity"]["flips"]
