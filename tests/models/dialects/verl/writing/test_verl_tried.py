"""Of very many ways to write the sizes of two pools, the right one is found."""

from __future__ import annotations

import placewright as pw
import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source
from placewright.planner.write_back import edits_of

PIN = Composer(frameworks=("verl==b178a3cd",))
"""In later releases no worker asks for whole micro batches."""
SCRIPT = """\
#!/bin/bash
python3 -m verl.experimental.one_step_off_policy.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=840 \\
    actor_rollout_ref.hybrid_engine=False actor_rollout_ref.rollout.n=1 actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.agent.num_workers=1 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.actor.ppo_mini_batch_size=840 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu='${trainer.n_gpus_per_node}' \\
    trainer.n_gpus_per_node=1 trainer.nnodes=1 rollout.n_gpus_per_node=1 rollout.nnodes=1 \\
    +placewright.components.actor.seconds.60=60 +placewright.components.actor.scaling=table \\
    +placewright.components.rollout.seconds.60=180 +placewright.components.rollout.scaling=table
"""


@pytest.mark.slow
def test_a_size_that_more_than_a_hundred_choices_come_before_is_written() -> None:
    """Sixty are of twelve sizes in either pool, and the 14 samples of a rank are a multiple of two alone: it was told to be refused in whatever parts."""
    reading = read(Source("run.sh", SCRIPT), read_shorthand("1x120"), "verl", "training", PIN)
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    edits, refused = edits_of(reading.to_solve, answer)
    text = apply_edits(SCRIPT, edits)
    assert not refused and "trainer.n_gpus_per_node=2 trainer.nnodes=30" in text
    assert not pw.verify(read(Source("run.sh", text), read_shorthand("1x120"), "verl", "training", PIN)).errors
