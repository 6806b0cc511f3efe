"""A worker's class, sent to a node that lacks placewright, is whole there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SENDS = """\
import sys
from ray import cloudpickle
from placewright.runtime.port.on_ray import RayPort

RayPort()  # what is imported later travels too
from placewright.runtime.workers.inside.base import Worker
from placewright.runtime.workers.inside.host import derive_host

class Actor(Worker):
    def where(self):
        return self.rank, self.visible_accelerators

with open(sys.argv[1], "wb") as file:
    file.write(cloudpickle.dumps((Actor, derive_host(Actor))))
"""
RECEIVES = """\
import os, sys
sys.modules["placewright"] = None
from ray import cloudpickle

with open(sys.argv[1], "rb") as file:
    Actor, _ = cloudpickle.loads(file.read())
try:
    Actor().rank
except AttributeError as problem:
    assert "`Actor.rank` is known only in a process of a worker group" in str(problem)
os.environ.update(RANK="3", VISIBLE_DEVICES="6,7")
actor = Actor()
actor._register_dispatch_collect_info("train", 1, True)
print(actor.where(), actor.get_dispatch_collect())
"""


def test_it_knows_who_it_is_without_placewright(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    file = str(tmp_path / "sent")
    subprocess.run([sys.executable, "-c", SENDS, file], check=True, timeout=280)
    said = subprocess.run(
        [sys.executable, "-c", RECEIVES, file], check=True, timeout=280, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert said == "(3, ('6', '7')) {'dispatch_dp_rank': {'train': 1}, 'collect_dp_rank': {'train': True}}\n"
