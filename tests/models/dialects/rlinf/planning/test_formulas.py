"""By which formula a time follows is told as it fits what trains: RLinf's tool has one alone, for Megatron."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.dialects.rlinf.planning.times import formula_of

JOB = """
cluster: {{num_nodes: 1, component_placement: {{"actor,rollout,reward": all}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 8, n_minibatches: 1}}
data: {{rollout_batch_size: 64}}
rollout: {{tensor_parallel_size: 1, max_running_requests: 8}}
actor: {{training_backend: {backend}, model: {{tensor_model_parallel_size: 1}}}}
profile_data: {{actor_cost: 40, rollout_cost: 60, inference_cost: 10}}
"""


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("megatron", "RLinf's formula for Megatron"),
        ("fsdp", "RLinf's formula for Megatron, taken for FSDP too"),
        ("", "RLinf's formula for Megatron, taken for this too"),
        (None, "RLinf's formula for Megatron, taken for this too"),
    ],
)
def test_a_formula_for_megatron_is_said_to_be_taken_for_what_else_trains(backend: str | None, said: str) -> None:
    assert formula_of(backend) == said


@pytest.mark.parametrize(("backend", "more"), [("megatron", ""), ("fsdp", ", taken for FSDP too")])
def test_the_times_of_an_actor_say_so(backend: str, more: str, tmp_path: Path) -> None:
    """It was `RLinf's formula for Megatron`, whatever trained."""
    file = tmp_path / "run.yaml"
    file.write_text(JOB.format(backend=backend), encoding="utf-8")
    said = pw.explain(str(file), "1x8xH100")
    assert f"by RLinf's formula for Megatron{more};" in said
    assert ("taken for FSDP" in said) == bool(more)
