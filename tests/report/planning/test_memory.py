"""The bill of memory as a table."""

from __future__ import annotations

from pathlib import Path

from placewright.report.planning.memory import memory

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


def test_memory_that_nobody_says_is_not_told_as_none(tmp_path: Path) -> None:
    rows = {line.split(" (")[0]: line for line in memory(account(tmp_path, SILENT, 0)).splitlines()}
    assert rows["rollout, reward"].split()[-4:] == ["at", "least", "10", "80"]
    assert rows["judge"].split()[-2:] == ["12", "80"]
    assert rows["actor"].count("not known") > 1 and rows["actor"].split()[-3:] == ["not", "known", "80"]
    assert rows["nobody says the memory of rollout and actor"]
