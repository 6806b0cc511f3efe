"""What explain says of a job whose counts are chosen by time."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.planner.accounting import ITERATION

FILE = """
cluster: 2x8xH100
components:
  rollout: {seconds: {4: 100, 8: 55, 16: 30, 2: 190, 1: 380}, samples: 512ROLLOUT}
  actor: {seconds: {train: {8: 60}}, scaling: table, accelerators: 8ACTOR}
plan: {workflow: rollout => actor, batches: 16, minimise: accelerators, budget: {seconds: 200, accelerators: 12}}
"""


def told(tmp_path: Path, rollout: str = "", actor: str = "") -> tuple[list[str], dict[str, str]]:
    path = tmp_path / "train.yaml"
    path.write_text(FILE.replace("ROLLOUT", rollout).replace("ACTOR", actor))
    found = pw.explanation(path)
    numbers = {each.name: f"{each.value} = {each.formula}" for each in found.derivations}
    return [f"{each.components[0] if each.components else 'job'}: {each.text}" for each in found.demands], numbers


def test_times_and_what_they_are_for_are_told(tmp_path: Path) -> None:
    demands, numbers = told(tmp_path)
    assert demands == [
        "rollout: takes 100 seconds on 4, 55 seconds on 8, 30 seconds on 16 and 190 seconds on 2, and 1 more measurement; power between and beyond",
        "rollout: its replicas divide 512 samples evenly",
        "actor: takes to train 60 seconds on 8; no other counts",
        "job: the fewest accelerators by the cost model stream, handed on in 16 batches, with at most 12 accelerators and at most 200 seconds",
        "job: actor works on what rollout makes, when all of it is there",
    ]
    assert ITERATION not in numbers


def test_what_an_iteration_of_given_ranks_takes_is_told_with_its_sum(tmp_path: Path) -> None:
    _, numbers = told(tmp_path, ", placement: 0-7", ", placement: 8-15")
    assert numbers[ITERATION] == "115 = rollout 55 + actor.train 60 (cost model stream)"


def test_ranks_of_some_components_alone_take_no_time_that_is_known(tmp_path: Path) -> None:
    _, numbers = told(tmp_path, ", placement: 0-7")
    assert ITERATION not in numbers
