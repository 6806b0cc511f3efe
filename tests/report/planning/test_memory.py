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

SEVERAL = """
cluster: 1x4xH100+1x4xL40S
components:
  judge: {placement: 7, memory: 20GiB}
  rollout: {placement: 2-6, phase: generate, memory: 30GiB, offloaded: 2GiB, seconds: {H100: {5: 60}, L40S: {5: 100}}}
  actor: {accelerators: 2, memory: 40GiB, offloaded: 6GiB, seconds: {train: {2: 80}}}
plan: {workflow: rollout => actor}
"""


def test_accelerators_of_one_memory_are_named_where_a_component_is_on_several_models(tmp_path: Path) -> None:
    """A row `rollout (3 of H100 and L40S)` beside `of 80` says nothing of which three these are."""
    rows = [(line.split(")")[0], line.split()[-1]) for line in memory(account(tmp_path, SEVERAL, 0)).splitlines()[1:]]
    assert set(rows) == {("rollout (2 H100", "80"), ("actor (2 H100", "80"), ("rollout (3 L40S", "48"), ("judge (1 L40S", "48")}


def test_memory_that_nobody_says_is_not_told_as_none(tmp_path: Path) -> None:
    rows = {line.split(" (")[0]: line for line in memory(account(tmp_path, SILENT, 0)).splitlines()}
    assert rows["rollout, reward"].split()[-4:] == ["at", "least", "10", "80"]
    assert rows["judge"].split()[-2:] == ["12", "80"]
    assert rows["actor"].count("not known") > 1 and rows["actor"].split()[-3:] == ["not", "known", "80"]
    assert rows["nobody says the memory of rollout and actor"]
