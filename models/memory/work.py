"""A model as one component runs it: how it is divided among accelerators, and what lies on the fullest of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..parallel import Parallel
from .estimate import BITS, FSDP, ZERO3, Estimate
from .shape import Shape


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
        """Among how many each part of the model may be divided further: the data and context parallel ranks."""
        return max(1, self.accelerators // (self.parallel.tp * self.parallel.pp))

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
        """Parameters of routed experts on an accelerator.

        In training experts divide by ep and, as everything else, by tp (Megatron-LM, megatron/core/parallel_state.py); an engine divides
        them by tp, or by ep, which is then tp x dp (vLLM, docs/serving/expert_parallel_deployment.md).
        """
        its, parallel = self.shape.expert_parameters, self.parallel
        if not its:
            return 0
        divisor = max(parallel.ep, parallel.tp) if self.serves else parallel.ep * parallel.tp
        return -(-its * self.stage_layers // (self.shape.layers * divisor))

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
        layers = rest - shape.embedding - shape.head
        return -(-(layers * self.stage_layers + shape.embedding * shape.layers) // (shape.layers * parallel.tp))

    @property
    def parameters(self) -> int:
        """Parameters on an accelerator, before data parallel ranks divide them."""
        return self.dense + self.experts

    @property
    def trained(self) -> int:
        """Of these, those that are trained; all where nobody says how many."""
        if not self.estimate.trainable:
            return self.parameters
        return -(-self.estimate.trainable * self.parameters // self.shape.parameters)

    @property
    def tokens(self) -> int:
        """Tokens of a micro batch on one accelerator; context parallel ranks divide each sequence."""
        return -(-self.estimate.sequence * self.estimate.micro_batch // self.parallel.cp)
