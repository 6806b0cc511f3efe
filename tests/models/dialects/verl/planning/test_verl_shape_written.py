"""Of a pool that may be written in several shapes, one is written that verl trains on: numbers that refer to its keys are others in each."""

from __future__ import annotations

import placewright as pw
import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.write_back import edits_of

TEXT = """\
data: {train_batch_size: 24}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  actor: {strategy: fsdp, ppo_mini_batch_size: 12, ppo_micro_batch_size_per_gpu: "${trainer.n_gpus_per_node}"}
  rollout: {name: vllm, tensor_model_parallel_size: 2, n: 1, log_prob_micro_batch_size_per_gpu: 1, agent: {num_workers: 1}}
trainer: {nnodes: 2, n_gpus_per_node: 1}
placewright:
  components:
    actor: {scaling: table, seconds: {4: 100}}
    rollout: {scaling: table, seconds: {4: 100}}
"""
SIZE = "{nnodes: 2, n_gpus_per_node: 2}"


def of(text: str, level: str, cluster: str = "1x6") -> Reading:
    composer = Composer(frameworks=("verl==b178a3cd",))  # workers of later releases ask for no whole micro batches
    return read(Source("train.yaml", text), read_shorthand(cluster), "verl", level, composer)


@pytest.mark.parametrize("level", ["placement", "training"])
def test_a_shape_whose_batches_divide_is_written(level: str) -> None:
    """Four on one node train in micro batches of 4, which the 3 samples of a rank are not a multiple of; four parts of one in those of 1."""
    reading = of(TEXT, level)
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == 200 * 10**9
    edits, refused = edits_of(reading.to_solve, answer)
    text = apply_edits(TEXT, edits)
    assert not refused and "{nnodes: 4, n_gpus_per_node: 1}" in text
    assert not pw.verify(of(text, "training")).errors


def test_where_no_shape_divides_that_with_the_fewest_errors_is_written() -> None:
    text = TEXT.replace("ppo_mini_batch_size: 12", "ppo_mini_batch_size: 36")  # more than a batch, in whatever parts
    reading = of(text, "placement")
    answer = pw.solve(reading, sandbox=False)
    assert answer.plan is not None
    written = apply_edits(text, edits_of(reading.to_solve, answer)[0])
    others = [written.replace("nnodes: 4, n_gpus_per_node: 1", f"nnodes: {parts}, n_gpus_per_node: {4 // parts}") for parts in (1, 2, 4)]
    counts = [len(pw.verify(of(each, "training")).errors) for each in (written, *others)]
    assert counts[0] == min(counts) < max(counts)


def test_a_shape_is_passed_over_that_verl_refuses_and_that_has_other_degrees() -> None:
    """Four on the larger node would have tp 2, and are refused: two parts of two lie elsewhere. What could not be written was the plan."""
    text = TEXT.replace("ppo_mini_batch_size: 12", "ppo_mini_batch_size: 24").replace("{nnodes: 2, n_gpus_per_node: 1}", SIZE)
    text = text.replace("tensor_model_parallel_size: 2", 'tensor_model_parallel_size: "${int_div:${trainer.n_gpus_per_node},2}"')
    reading = of(text, "training", "1x2+1x4")
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved and answer.planned.is_own
    edits, refused = edits_of(reading.to_solve, answer)
    assert not refused and SIZE in apply_edits(text, edits)
