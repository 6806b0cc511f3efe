"""A framework's file, whose ranks are given: a restart reads it again for the nodes that are left."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.launching import intent
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.detached.messages import LaunchRequest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.recovery.lifetime import RestartPolicy
from placewright.solver.verify import verify

from ..fake import FakePort
from .launching import Trainer, codes, places
from .test_beside_others import other_job

SCRIPT = """\
python3 -m verl.trainer.main_ppo data.train_batch_size=256 \\
  actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
  actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 \\
  actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=4 critic.ppo_micro_batch_size_per_gpu=4 \\
  trainer.n_gpus_per_node=2 trainer.nnodes=2
"""


def file(folder: Path, nodes: int) -> pw.Reading:
    """verl on two of these nodes, each with two accelerators."""
    path = folder / "train.sh"
    path.write_text(SCRIPT)
    return pw.load(path, read_shorthand(f"{nodes}x2")).to_launch


def lost(reading: pw.Reading, port: FakePort, *ranks: int) -> dict[int, str]:
    """Rank of the actor -> node, after the loss of these nodes, one after the other."""
    plan = verify(reading).plan
    assert plan is not None
    with ExitStack() as stack:
        policy = RestartPolicy.of(len(ranks), reading.problem, reading)
        running = bring_up(stack, plan, port, Trainer, 60, silent, policy=policy)
        for rank in ranks:
            port.lose_node(rank)
            running.run("step")
        assert str(running.recoveries[-1]).endswith("the file's own ranks on the nodes that are left")
        return {rank: node for rank, (node, _) in places(running).items()}


def test_a_spare_node_takes_the_ranks_of_a_lost_one(tmp_path: Path) -> None:
    assert lost(file(tmp_path, 3), FakePort(2, 2, 2), 1) == {0: "node-0", 1: "node-0", 2: "node-2", 3: "node-2"}
    assert set(lost(file(tmp_path, 4), FakePort(2, 2, 2, 2), 0, 2).values()) == {"node-1", "node-3"}


def test_what_the_framework_refuses_on_the_nodes_left_ends_the_launch(tmp_path: Path) -> None:
    with pytest.raises(LaunchFailed) as caught:
        lost(file(tmp_path, 2), FakePort(2, 2), 1)
    assert codes(caught.value) == ["PW713", "PW215", "PW714"]


def test_a_spare_node_of_another_job_is_left_alone(tmp_path: Path) -> None:
    port = FakePort(2, 2, 2)
    other_job(port, "ray-2", 1)
    with pytest.raises(LaunchFailed) as caught:
        lost(file(tmp_path, 3), port, 1)
    assert codes(caught.value)[-1] == "PW714"


def test_the_condition_is_said_beforehand(tmp_path: Path) -> None:
    reading = file(tmp_path, 2)
    plan = verify(reading).plan
    assert plan is not None
    said = intent(LaunchRequest("a", "train.sh", plan, restarts=1, problem=reading.problem), reading)
    note = "note: `--restarts` covers the loss of a node under the given ranks of `actor`, `critic`, `rollout`, if the file fits the other nodes"
    assert said.splitlines()[1:] == [note]
