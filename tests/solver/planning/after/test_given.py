"""Ranks that are all given, beside what could be had without them."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.solver.planning.after.account import Account

FILE = """
cluster: 2x8xH100
components:
  rollout: {ROLLOUT, seconds: {4: 100, 8: 55}, memory: 60GiB}
  actor: {ACTOR, seconds: {8: 60}, parallel: {tp: 2}, memory: 70GiB}
plan: {workflow: rollout -> actor, batches: 16}
"""


def account(tmp_path: Path, rollout: str, actor: str) -> Account:
    path = tmp_path / "train.yaml"
    path.write_text(FILE.replace("ROLLOUT", rollout).replace("ACTOR", actor))
    return pw.account(path, sandbox=False)


def test_the_best_without_the_ranks_is_that_of_open_hints(tmp_path: Path) -> None:
    given = account(tmp_path, "placement: 0-3", "placement: 8-15")
    opened = account(tmp_path, "accelerators: 1-16", "accelerators: 2-16")
    assert given.given and not opened.given
    assert given.others[0].priced == opened.planned.best
    assert given.planned.bound == opened.planned.best.nanoseconds
    assert given.planned.best.nanoseconds > given.planned.bound and not given.planned.proved
    assert given.planned.best.design.accelerators == 12


def test_what_is_chosen_is_the_best_also_when_it_is_given(tmp_path: Path) -> None:
    opened = account(tmp_path, "accelerators: 1-16", "accelerators: 2-16").planned.best
    held = {name: option.amount for name, option in opened.design.options.items()}
    assert held == {"rollout": 8, "actor": 8}
    given = account(tmp_path, "placement: 0-7", "placement: 8-15")
    assert given.planned.best == opened
    assert given.planned.proved


def test_a_count_that_is_asked_for_stays_as_it_is(tmp_path: Path) -> None:
    given = account(tmp_path, "placement: 0-3, accelerators: 4", "placement: 8-15")
    assert {each.priced.design.options["rollout"].amount for each in given.others} == {4}


def test_ranks_whose_time_nobody_says_have_no_account(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    path.write_text("cluster: 1x8\ncomponents:\n  a: {placement: 0-3, seconds: {8: 5}, scaling: table}\n")
    with pytest.raises(ValueError, match="no time of an iteration is known"):
        pw.account(path, sandbox=False)
    path.write_text("cluster: 1x8\ncomponents:\n  a: {accelerators: 4}\n")
    with pytest.raises(ValueError, match="no `seconds`"):
        pw.account(path, sandbox=False)
