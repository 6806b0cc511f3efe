"""The known name that a misspelt one means, and names that mean something else."""

from __future__ import annotations

import pytest
from placewright.models.text.nearest import closest

KEYS = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "model_type", "n_gpus_per_node", "rollout_batch_size", "nnodes")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tensor_model_paralel_size", "tensor_model_parallel_size"),
        ("tensor_parallel_size", "tensor_model_parallel_size"),
        ("rollout_batchsize", "rollout_batch_size"),
        ("n_gpu_per_node", "n_gpus_per_node"),
        ("nnode", "nnodes"),
        ("context_parallel_size", None),  # a key of its own, not `tensor_model_parallel_size`
        ("expert_model_parallel_size", None),
    ],
)
def test_another_word_is_no_slip(name: str, meant: str | None) -> None:
    assert closest(name, KEYS) == meant
