"""Ctrl-C while the account of a plan is made ends the account's searches, not the answer."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from placewright.cli.showing.planned import account_of
from placewright.solver.planning.after import accounting
from placewright.solver.planning.after.flips.scaled import Scaled
from placewright.solver.sandbox.interrupts import held
from placewright.solving import question_of, searching

FILE = "cluster: 1x8xH100\ncomponents:\n  rollout: {seconds: {8: 20}}\n  actor: {seconds: {8: 10}}\nplan: {workflow: rollout => actor}\n"


@pytest.mark.usefixtures("interruptible")
def test_what_is_known_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(FILE)

    def interrupted(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    problem = question_of(path).problem
    solve = searching(10.0, 1, sandbox=False)
    answer = solve(problem)
    blocks, data, _ = account_of(problem, answer, 10.0, 1, solve)
    monkeypatch.setattr(accounting, "sensitivity", interrupted)
    with held() as interrupts:
        fewer, less, _ = account_of(problem, answer, 10.0, 1, solve)
    assert interrupts.count == 1
    assert [block for block in blocks if "times of one component are wrong" not in block] == fewer
    planned, without = data["planned"], less["planned"]
    assert isinstance(planned, dict) and isinstance(without, dict)
    assert {name: value for name, value in planned.items() if name != "sensitivity"} == without


@pytest.mark.usefixtures("interruptible")
def test_how_far_it_is_known_to_hold_is_told_where_the_further_searches_were_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(FILE)

    def interrupted(*arguments: object, **more: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    problem = question_of(path).problem
    solve = searching(10.0, 1, sandbox=False)
    answer = solve(problem)
    monkeypatch.setattr(Scaled, "search", interrupted)
    with held() as interrupts:
        blocks, data, _ = account_of(problem, answer, 10.0, 1, solve)
    assert interrupts.count == 1
    (told,) = (block for block in blocks if "times of one component are wrong" in block)
    assert "or sooner (it holds to 1." in told or "holds at least with " in told
    planned = data["planned"]
    assert isinstance(planned, dict)
    assert not any(flip["proved"] for flip in planned["sensitivity"]["flips"] if flip["holds"] not in (0.5, 2.0))
