"""Division of work among the workers of a replica: tensor, data and pipeline parallelism."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Degrees of parallelism.

    rank = (data * pipeline degree + stage) * tensor degree + tensor rank.

    Source of the order, tensor ranks adjacent: vLLM, vllm/distributed/parallel_state.py,
    `initialize_model_parallel`.
    """

    tensor: int = 1
    data: int = 1
    pipeline: int = 1

    @property
    def world_size(self) -> int:
        """Number of workers of a replica of this shape."""
        return self.tensor * self.data * self.pipeline

    def ranks(self, data: int, stage: int) -> range:
        """Return the ranks of a pipeline stage of a data-parallel copy."""
        first = (data * self.pipeline + stage) * self.tensor
        return range(first, first + self.tensor)

    def tensor_rank(self, rank: int) -> int:
        """Return the tensor-parallel rank of a rank."""
        return rank % self.tensor

    def stage(self, rank: int) -> int:
        """Return the pipeline stage of a rank."""
        return rank // self.tensor % self.pipeline
