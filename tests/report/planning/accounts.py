"""Accounts of two small jobs: one whose file fixes some ranks, and one whose traffic counts as time."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.account import Account

BY_HAND = """
cluster: 2x8xH100
components:
  rollout: {parallel: {tp: 2}, seconds: {8: 90, 16: 50}, phase: generate, memory: 60GiB, offloaded: 2GiB}
  reward: {seconds: {4: 20}, phase: infer, memory: 30GiB, placement: 12-15}
  actor: {parallel: {tp: 4}, seconds: {8: 70, 16: 40}, phase: train, memory: 60GiB, offloaded: 4GiB}
plan: {workflow: rollout -> reward => actor, batches: 5}
"""
CROSSING = """
cluster: 2x8xH100
components:
  rollout: {parallel: {tp: 2}, seconds: {4: 150, 8: 90, 16: 50}, phase: generate, memory: 60GiB, offloaded: 2GiB}
  actor: {parallel: {tp: 4}, seconds: {4: 110, 8: 60, 16: 40}, phase: train, memory: 60GiB, offloaded: 4GiB, traffic: 100GiB}
links: [{from: actor, to: rollout, weights: 14GiB}]
plan: {workflow: rollout -> actor, batches: 8, bandwidth: {node: 10GiB}}
"""


def account(tmp_path: Path, text: str, searches: int = 40) -> Account:
    (tmp_path / "job.yaml").write_text(text)
    return pw.account(tmp_path / "job.yaml", sandbox=False, searches=searches)
