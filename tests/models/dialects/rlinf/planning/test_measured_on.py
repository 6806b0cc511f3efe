"""A cost stays that of the run that was measured, whatever ranks a plan writes into the file."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source

TEXT = """runner: {task_type: embodied}
cluster:
  num_nodes: 2
  component_placement: {"actor,rollout,env": all}
env: {train: {total_num_envs: 96, max_episode_steps: 80, max_steps_per_rollout_epoch: 80}}
rollout: {backend: huggingface, pipeline_stage_num: 2}
actor: {training_backend: fsdp, micro_batch_size: 8, global_batch_size: 96, model: {model_type: openvla, num_action_chunks: 1}}
profile_data:
  actor_cost: 20
  env_profile_data: {6: 10, 12: 19, 24: 40, 48: 82, 96: 160}
  rollout_profile_data: {6: 8, 12: 9, 24: 12, 48: 20, 96: 38}
"""
BLOCKS = (
    "", "placewright: {plan: {cost_model: rlinf-embodied}}\n", "placewright:\n  plan: {nested: true}\n",
    "placewright:\n  components:\n    env:\n      memory: 1GiB\n", "placewright:\n  components:\n    actor:\n      memory: 1GiB\n",
    "placewright:\n  components: {actor: {memory: 1GiB}, env: {memory: 1GiB}}\n",
    "placewright: {components: {}}\n", "placewright: {components: {actor: {}}}\n",
)  # fmt: skip


def plan_of(text: str) -> tuple[pw.Solution, str]:
    """What is planned, and the text with that in it."""
    reading = read(Source("run.yaml", text), read_shorthand("2x8xH100"), "rlinf").to_solve
    found = pw.solve(reading)
    assert found.plan is not None
    return found, apply_edits(text, dialect_named("rlinf").write(reading, found.plan.assignment, found.plan.degrees))


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS)
def test_the_written_file_is_read_as_it_was_planned(block: str) -> None:
    first, written = plan_of(TEXT + block)
    assert "measured_on: 16" in written
    again, twice = plan_of(written)
    assert again.plan is not None and first.plan is not None
    assert again.plan.digest == first.plan.digest and twice == written


def test_the_count_is_that_of_costs_alone(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(TEXT + "placewright: {components: {env: {measured_on: 16}}}\n")
    (told,) = pw.verify(tmp_path / "run.yaml", cluster="2x8xH100", level="placement").errors
    assert (told.code, told.message) == (
        "PW121", "`measured_on` of `env` is about a cost of it in RLinf's `profile_data`, and this file has none",
    )  # fmt: skip
    (tmp_path / "run.yaml").write_text(TEXT + "placewright: {components: {actor: {measured_on: 0}}}\n")
    assert [each.code for each in pw.verify(tmp_path / "run.yaml", cluster="2x8xH100", level="placement").errors] == ["PW105"]
    (tmp_path / "run.yaml").write_text(TEXT + "placewright: {components: {actor: {measured_on: 8}}}\n")
    assert not pw.verify(tmp_path / "run.yaml", cluster="2x8xH100", level="placement").errors
