"""A model on accelerators, and the batch of an iteration."""

from __future__ import annotations

from functools import cached_property

from ..memory.work import ModelShape
from ..parallel import Parallel
from ..record import dataclass
from .efficiency import USUAL, Efficiency
from .hardware import GIGA, TERA, AcceleratorSpeed
from .interval import Interval, exactly

HALF = 2
"""Bytes of a weight or an activation in 16 bits."""


@dataclass(frozen=True, slots=True)
class SequenceBatch:
    """Sequences of an iteration.

    Attributes
    ----------
    sequences : all of them: prompts x samples of each.
    """

    sequences: int
    prompt: float
    response: Interval
    longest: int

    @property
    def tokens(self) -> Interval:
        """Tokens of all prompts and answers."""
        return self.response.plus(self.prompt).times(self.sequences)

    @property
    def length(self) -> Interval:
        """Mean tokens of a prompt with its answer."""
        return self.response.plus(self.prompt)


@dataclass(frozen=True)
class ModelRun:
    """Model on accelerators of one kind.

    Attributes
    ----------
    near : accelerators of a node or NVLink domain, which `speed.link` joins.
    expert_tp : tensor parallel size of experts in training; 0: that of the model.
    """

    shape: ModelShape
    parallel: Parallel
    accelerators: int
    speed: AcceleratorSpeed
    near: int = 8
    efficiency: Efficiency = USUAL
    expert_tp: int = 0

    @cached_property
    def active(self) -> float:
        """Parameters that work on a token; an embedding alone is looked up."""
        shape = self.shape
        idle = shape.expert_parameters * (1 - shape.active_experts / shape.experts) if shape.experts else 0.0
        return shape.total - idle - (shape.embedding if shape.head else 0)

    @cached_property
    def attention_of_token(self) -> float:
        """Operations of attention for a token and token of context, forward, all layers."""
        shape = self.shape
        return 2.0 * shape.layers * shape.heads * (shape.head_size + (shape.value_size or shape.head_size))

    def forward(self, batch: SequenceBatch, in_matrices: Interval, in_attention: Interval) -> Interval:
        """Return the seconds of one forward pass over a batch, at shares of the peak.

        2 operations a parameter and token, and causal attention, which experts do not slow down. Source: Reducing Activation
        Recomputation, arXiv 2205.05198, appendix A; half of attention is masked.
        """
        weights = batch.tokens.times(2 * self.active).over(in_matrices.times(self.peak))
        attention = batch.tokens.times(batch.length).times(self.attention_of_token / 2)
        return weights.plus(attention.over(in_attention.times(self.peak)))

    @property
    def peak(self) -> float:
        """Operations a second of all accelerators in bf16."""
        return self.speed.bf16 * TERA * self.accelerators

    @property
    def expert_ranks(self) -> int:
        """Neighbouring ranks that divide the experts of a layer in training.

        Megatron-LM, megatron/core/parallel_state.py (order tp-ep-dp of the ranks of experts).
        """
        return self.parallel.ep * (self.expert_tp or self.parallel.tp)

    @property
    def replicas(self) -> float:
        """Replicas, at least one."""
        return max(1.0, self.accelerators / self.parallel.replica)

    def crosses(self, ranks: int) -> bool:
        """Return True if so many neighbouring ranks lie in several domains."""
        return ranks > self.near

    def link(self, ranks: int, stride: int = 1) -> Interval:
        """Return the bytes a second of a rank in a ring of every `stride`-th rank.

        Rings over several nodes share the adapters of a node: one a rank that it has there (NCCL user
        guide, NCCL_CROSS_NIC; nccl-tests, PERFORMANCE.md, bus bandwidth).
        """
        link = self.efficiency.link.times(self.speed.link * GIGA / 2)
        if not self.crosses(ranks * stride):
            return link
        network = self.efficiency.network.times(self.speed.network * GIGA * max(1, self.near // stride))
        return Interval(*(min(pair) for pair in zip(link, network)))

    def own_link(self, ranks: int) -> Interval:
        """Return the bytes a second of a rank that sends to each neighbour."""
        if self.crosses(ranks):
            return self.efficiency.network.times(self.speed.network * GIGA)
        return self.link(ranks)

    def ring(self, size: float, ranks: int) -> Interval:
        """Return the seconds of an all-reduce of so many bytes on each of some ranks.

        A ring sends 2 (n - 1) / n times the bytes (Patarasuk and Yuan 2009; NCCL tests,
        PERFORMANCE.md).
        """
        return exactly(2 * (ranks - 1) / ranks * size).over(self.link(ranks)) if ranks > 1 else exactly(0.0)
