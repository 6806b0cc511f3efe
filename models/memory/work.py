"""A model as one component runs it: how it is divided among accelerators, and what lies on the fullest of them."""

from __future__ import annotations

from functools import cached_property

from ..estimate import BITS, FSDP, ZERO3, Estimate
from ..parallel import Parallel
from ..record import dataclass
from .shape import Shape


@dataclass(frozen=True, slots=True)
class Parts:
    """Parameters on an accelerator: those of routed experts, and all others."""

    dense: int
    experts: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.dense + self.experts


@dataclass(frozen=True)
class Work:
    """One component on so many accelerators.

    Attributes
    ----------
    optimizer : one of `OPTIMIZERS`.
    serves : does it generate, with a cache?
    accelerators : of all its replicas together.
    capacity : MiB of each; None where that is not known.
    """

    shape: Shape
    estimate: Estimate
    parallel: Parallel
    optimizer: str
    serves: bool
    accelerators: int
    capacity: int | None = None

    @property
    def ranks(self) -> int:
        """Among how many each part of the model may be divided further: the data and context parallel ranks, or `shards` of them."""
        return self._of_those_that_divide(self.accelerators // (self.parallel.tp * self.parallel.pp))

    @property
    def expert_ranks(self) -> int:
        """Among how many a routed expert may be divided further: fewer, as ep ranks hold different experts.

        Source: Megatron-LM, megatron/core/parallel_state.py (expert data parallel ranks are all / (tp x ep x pp)).
        """
        return self._of_those_that_divide(self.accelerators // (self.expert_degree * self.parallel.pp))

    def _of_those_that_divide(self, ranks: int) -> int:
        """Where weights are divided inside of groups, each group has them all: PyTorch FSDP, arXiv 2304.11277, section 3.2.2."""
        return max(1, min(ranks, self.estimate.shards or ranks))

    @property
    def expert_degree(self) -> int:
        """Among how many the experts of a layer are divided.

        In training that is ep and, as for everything else, tp (Megatron-LM, megatron/core/parallel_state.py, where tp of experts is that of
        the model if nobody says otherwise). In an engine tp x dp ranks share the experts, whole or in parts (vLLM,
        docs/serving/data_parallel_deployment.md and expert_parallel_deployment.md).
        """
        parallel = self.parallel
        return max(parallel.ep, parallel.tp * parallel.dp) if self.serves else parallel.ep * parallel.tp

    @property
    def whole(self) -> bool:
        """Does each data parallel rank hold its weights whole?"""
        return self.estimate.sharding not in (ZERO3, FSDP)

    def bytes_of(self, numbers: int) -> int:
        """Bytes of so many numbers in the precision of the weights."""
        return -(-numbers * BITS[self.estimate.precision] // 8)

    @cached_property
    def stage_layers(self) -> int:
        """Layers of a pipeline stage, of the one with the most."""
        return -(-self.shape.layers // self.parallel.pp)

    @cached_property
    def experts(self) -> int:
        """Parameters of routed experts on an accelerator."""
        its = self.shape.expert_parameters
        return -(-its * self.stage_layers // (self.shape.layers * self.expert_degree)) if its else 0

    @cached_property
    def dense(self) -> int:
        """All other parameters on an accelerator: those of a stage with the embedding, divided by tp.

        With several stages the head lies on another one than the embedding. Source: Megatron-LM, megatron/training/theoretical_memory_usage.py.
        """
        shape, parallel = self.shape, self.parallel
        rest = shape.parameters - shape.expert_parameters
        if parallel.pp == 1:
            return -(-rest // parallel.tp)
        if not shape.layers:
            return -(-rest // (parallel.pp * parallel.tp))
        layers = max(0, rest - shape.embedding - shape.head)
        return -(-(layers * self.stage_layers + shape.embedding * shape.layers) // (shape.layers * parallel.tp))

    @property
    def parameters(self) -> Parts:
        """Parameters on an accelerator, before data parallel ranks divide them."""
        return Parts(self.dense, self.experts)

    @property
    def trained(self) -> Parts:
        """Of these, those that are trained: all where nobody says how many, nor that there are adapters."""
        every, estimate = self.shape.parameters, self.estimate
        if not (estimate.trainable or estimate.lora_rank):
            return self.parameters
        some = min(estimate.trainable or self.shape.adapters(estimate.lora_rank), every)
        return Parts(-(-some * self.dense // every), -(-some * self.experts // every))

    @property
    def tokens(self) -> int:
        """Tokens of a micro batch on one accelerator; context parallel ranks divide each sequence."""
        return -(-self.estimate.sequence * self.estimate.micro_batch // self.parallel.cp)
