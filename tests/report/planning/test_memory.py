"""The bill of memory as a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.report.planning.assumptions import assumptions
from placewright.report.planning.works import memory

from .accounts import account

SILENT = """
cluster: 2x8xH100
components:
  rollout: {accelerators: 4, seconds: {8: 40}}
  reward: {accelerators: 4, seconds: {8: 10}, memory: 10GiB, colocate_with: rollout}
  judge: {accelerators: 2, seconds: {8: 3}, memory: 12GiB, disjoint_from: [rollout, actor]}
  actor: {accelerators: 6, seconds: {8: 50}, disjoint_from: rollout}
plan: {workflow: rollout -> reward => actor}
"""

IN_TURN = """
cluster: 1x8xH100
components:
  rollout: {memory: 60GiB, seconds: {generate: {4: 60, 8: 31}}}
  reward: {memory: 8GiB, seconds: {infer: {4: 6, 8: 3.1}}}
  actor: {memory: 70GiB, seconds: {train: {4: 60, 8: 32}}}
plan: {workflow: rollout => reward => actor}
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (IN_TURN, "rollout and actor: no memory is kept"),
        (IN_TURN.replace("60GiB", "60GiB, offloaded: 2GiB"), "actor: no memory is kept"),
        (IN_TURN.replace("60GiB", "20GiB").replace("70GiB", "40GiB"), ""),
        (IN_TURN.replace("60GiB", "60GiB, disjoint_from: actor"), ""),
        (
            IN_TURN.replace("60GiB", "30GiB").replace("8GiB", "30GiB").replace("70GiB", "40GiB"),
            "rollout, reward and actor: no memory is kept",
        ),
        (IN_TURN.replace("1x8xH100", "1x8"), ""),
    ],
)
def test_memory_that_is_taken_to_leave_is_told_where_it_would_have_no_room(tmp_path: Path, said: str, told: str) -> None:
    """Nobody says that it is offloaded: a plan in turns rests on that, unless nobody knows how much memory there is."""
    found = account(tmp_path, said, 0)
    lines = [line.strip() for line in assumptions(found).splitlines() if "no memory is kept" in line]
    all_of_it = f"{told} while others work there, as all of it does not fit and `offloaded` is unset"
    assert lines == ([all_of_it] if told else [])
    assert set(lines) <= set(found.assumed)  # which programs are told too


def test_memory_that_nobody_says_is_not_told_as_none(tmp_path: Path) -> None:
    rows = {line.split(" (")[0]: line for line in memory(account(tmp_path, SILENT, 0)).splitlines()}
    assert rows["rollout, reward"].split()[-4:] == ["at", "least", "10", "80"]
    assert rows["judge"].split()[-2:] == ["12", "80"]
    assert rows["actor"].count("not known") > 1 and rows["actor"].split()[-3:] == ["not", "known", "80"]
    assert rows["the memory of rollout and actor is unknown"]
