"""How the workers of a replica share the work: tensor, data and pipeline parallelism."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Degrees of parallelism; rank = (data * pipeline degree + stage) * tensor degree + tensor rank.

    Source of the order, tensor ranks side by side: vLLM, vllm/distributed/parallel_state.py, `initialize_model_parallel`.
    """

    tensor: int = 1
    data: int = 1
    pipeline: int = 1

    @property
    def world_size(self) -> int:
        """How many workers a replica of this shape has."""
        return self.tensor * self.data * self.pipeline

    def ranks(self, data: int, stage: int) -> range:
        """The ranks that compute one pipeline stage of one data-parallel copy together."""
        first = (data * self.pipeline + stage) * self.tensor
        return range(first, first + self.tensor)

    def tensor_rank(self, rank: int) -> int:
        """Which part of its stage a rank computes."""
        return rank % self.tensor

    def stage(self, rank: int) -> int:
        """The pipeline stage of a rank."""
        return rank // self.tensor % self.pipeline
