"""Model as run by a component: shape, division and optimizer.

Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import Any

from ..component import Component
from ..estimate import BITS, FSDP, NONE, ZERO3, MemoryInput
from ..findings.wording import do, with_noun
from ..model_cards.card import SHAPE, ModelCard
from ..parallel import Parallel
from ..record import dataclass
from ..roles import ACTOR, CRITIC, STUDENT, role_of

GATED = 3
"""Matrices in the feed-forward part: gate, up and down (SwiGLU, arXiv 2002.05202)."""


@dataclass(frozen=True)
class ModelShape(ModelCard):
    """Card of a model as a component runs it; `parameters` are stated, not counted."""

    @cached_property
    def embedding(self) -> int:
        """Parameters of the embedding."""
        return self.vocabulary * self.hidden

    @cached_property
    def head(self) -> int:
        """Parameters of a head that differs from the embedding."""
        if not self.parameters or not self._in_layers:
            return 0 if self.tied else self.embedding
        rest = self.parameters - self._in_layers  # the remainder shows if there is a head
        return self.embedding if 2 * rest > 3 * self.embedding else 0

    @cached_property
    def expert_parameters(self) -> int:
        """Parameters of all routed experts, at most the stated number."""
        count = GATED * self.experts * self.hidden * self.expert_intermediate * max(0, self.layers - self.dense_layers)
        return min(count, self.parameters) if self.parameters else count

    @cached_property
    def _in_layers(self) -> int:
        """Parameters of all layers; 0 if the shape is unknown."""
        if not self._is_known:
            return 0
        attention = sum(rows * columns for rows, columns in self._attention)
        without_experts = self.experts * self.hidden + GATED * self.hidden * self.expert_intermediate * self.shared_experts
        forward = (
            self._layers_without_experts * GATED * self.hidden * self.intermediate
            + (self.layers - self._layers_without_experts) * without_experts
        )
        return self.layers * attention + forward + self.expert_parameters

    def adapters(self, rank: int) -> int:
        """Return the parameters of LoRA adapters of this rank on all matrices.

        An adapter has two matrices beside each matrix of each layer. 0 if the shape is unknown.
        Source: LoRA, arXiv 2106.09685, section 4.1; on all that PEFT calls `all-linear`, except for
        the router of experts.
        """
        if not self._is_known:
            return 0
        attention = sum(rows + columns for rows, columns in self._attention)
        per_layer = GATED * (self.hidden + self.expert_intermediate) * (self.experts + self.shared_experts)
        forward = (
            self._layers_without_experts * GATED * (self.hidden + self.intermediate)
            + (self.layers - self._layers_without_experts) * per_layer
        )
        return rank * (self.layers * attention + forward)

    @property
    def _is_known(self) -> bool:
        width = self.intermediate or self.expert_intermediate
        return bool(self.layers and self.hidden and all(rows and columns for rows, columns in self._attention) and width)

    @property
    def _layers_without_experts(self) -> int:
        return self.dense_layers if self.experts else self.layers

    @property
    def _attention(self) -> tuple[tuple[int, int], ...]:
        """Matrices of attention in a layer: queries, keys, values, and output.

        With a latent: into the latents, from each latent to its heads, and output (DeepSeek-V2,
        arXiv 2405.04434, section 2.1; its appendix C has the formulas).
        """
        width, queries, kv = self.hidden, self.heads * self.head_size, (self.kv_heads or self.heads) * self.head_size
        if not self.latent:
            return (width, queries), (width, kv), (width, kv), (queries, width)
        if not (self.rope and self.value_size):
            return ((0, 0),)
        into = ((width, self.query_latent), (self.query_latent, queries)) if self.query_latent else ((width, queries),)
        values = self.heads * self.value_size
        return *into, (width, self.latent), (self.latent - self.rope, queries - self.heads * self.rope + values), (values, width)

    @cached_property
    def counted(self) -> int:
        """Parameters computed from the shape, without norms and biases; 0 if unknown."""
        return self._in_layers + self.embedding + (0 if self.tied else self.embedding) if self._in_layers else 0

    @property
    def tensors(self) -> int:
        """Weights one by one: 9 of a layer, and 3 of each routed expert."""
        return 9 * self.layers + GATED * self.experts * (self.layers - self.dense_layers)

    @property
    def total(self) -> int:
        """All parameters: stated, else computed from the shape; 0 if unknown."""
        return self.parameters or self.counted

    @cached_property
    def cached(self) -> int:
        """Numbers that a layer caches per token: keys and values of all heads, or the latent."""
        return self.latent or 2 * (self.kv_heads or self.heads) * self.head_size


def shape_of(estimate: MemoryInput, card: ModelCard | None) -> ModelShape:
    """Return the shape of a component's model; the estimate overrides the card."""
    base = card or ModelCard("")
    numbers: dict[str, Any] = {name: getattr(estimate, name, 0) or getattr(base, name) for name in SHAPE}
    if not estimate.parameters and any((estimate.layers, estimate.hidden, estimate.intermediate, estimate.vocabulary, estimate.experts)):
        numbers["parameters"] = 0  # the card's number is that of another shape
    numbers["kv_heads"] = numbers["kv_heads"] or numbers["heads"]
    numbers["head_size"] = numbers["head_size"] or (numbers["hidden"] // numbers["heads"] if numbers["heads"] else 0)
    # Mixtral's configuration has the width of an expert under `intermediate_size`.
    numbers["expert_intermediate"] = numbers["expert_intermediate"] or (numbers["intermediate"] if numbers["experts"] else 0)
    return ModelShape(base.name, multimodal=base.multimodal, **numbers)


TRAINED = (ACTOR, CRITIC, STUDENT)
_KEYS = tuple(field.name for field in fields(MemoryInput) if field.compare)


def whole_groups(shards: int, accelerators: int, parallel: Parallel) -> bool:
    """Return True if the ranks form whole groups of shards, or at most one."""
    ranks = accelerators // (parallel.tp * parallel.pp)
    return not shards or ranks <= shards or ranks % shards == 0


def are_whole(component: Component) -> bool:
    """Return True if the requested counts can only form whole groups of shards."""
    shards, parallel = component.divided_among, component.parallel
    if component.least == component.most:
        return whole_groups(shards, component.most, parallel)
    return not shards or component.most // (parallel.tp * parallel.pp) <= shards


def not_whole(name: str, ranks: int, shards: int) -> str:
    """Return the sentence on ranks that form no whole groups."""
    return (
        f"the {with_noun(ranks, 'rank')} of `{name}` {do(ranks)} not divide into groups of {shards} shards: {ranks % shards} would be left"
    )


def fitting(ranks: int, shards: int) -> str:
    """Return the advice with the nearest group sizes that divide the ranks."""
    fit = [size for size in range(1, ranks) if ranks % size == 0]
    below, above = max(size for size in fit if size < shards), min((size for size in fit if size > shards), default=0)
    return f"write {below} or {above}" if above else f"write {below}, or leave it out where all of them divide"


def optimizer_of(component: Component) -> str:
    """Return the optimizer: by default Adam for trained roles, else `NONE`."""
    optimizer = component.estimate.optimizer if component.estimate else ""
    return optimizer or ("adam" if role_of(component) in TRAINED else NONE)


def as_run(estimate: MemoryInput, run: MemoryInput | None) -> MemoryInput:
    """Return the user's estimate, completed by the framework's settings."""
    if run is None:
        return estimate
    defaults = MemoryInput()
    additions = {key: value for key in _KEYS if (value := getattr(run, key)) != getattr(defaults, key) and key not in estimate.written}
    return replace(estimate, written=(*estimate.written, *additions), **additions)


@dataclass(frozen=True, slots=True)
class WeightShare:
    """Parameters on an accelerator: of routed experts, and all others."""

    dense: int
    experts: int

    @property
    def total(self) -> int:
        """All parameters."""
        return self.dense + self.experts


@dataclass(frozen=True)
class Work:
    """Component on a number of accelerators.

    Attributes
    ----------
    optimizer : one of `OPTIMIZERS`.
    serves : True if it generates, with a cache.
    accelerators : accelerators of all replicas together.
    capacity : MiB per accelerator; None if unknown.
    """

    shape: ModelShape
    estimate: MemoryInput
    parallel: Parallel
    optimizer: str
    serves: bool
    accelerators: int
    capacity: int | None = None

    @property
    def ranks(self) -> int:
        """Ranks that may further divide the model: data and context parallel ranks, or `shards`."""
        return self._sharding_ranks(self.accelerators // (self.parallel.tp * self.parallel.pp))

    @property
    def expert_ranks(self) -> int:
        """Ranks that may further divide a routed expert; ep ranks hold different experts.

        Source: Megatron-LM, megatron/core/parallel_state.py (expert data parallel ranks are all /
        (tp x ep x pp)).
        """
        return self._sharding_ranks(self.accelerators // (self.expert_degree * self.parallel.pp))

    def _sharding_ranks(self, ranks: int) -> int:
        """Return the size of a sharding group, with all weights (arXiv 2304.11277, 3.2.2)."""
        return max(1, min(ranks, self.estimate.shards or ranks))

    @property
    def expert_degree(self) -> int:
        """Number of ranks that divide the experts of a layer.

        In training these are ep and the tp of experts, by default that of the model (Megatron-LM,
        megatron/core/parallel_state.py). In an
        engine tp x dp ranks share the experts, whole or in parts (vLLM,
        docs/serving/data_parallel_deployment.md and expert_parallel_deployment.md).
        """
        parallel = self.parallel
        return max(parallel.ep, parallel.tp * parallel.dp) if self.serves else parallel.ep * (self.estimate.expert_tp or parallel.tp)

    @property
    def whole(self) -> bool:
        """True if every data parallel rank holds whole weights."""
        return self.estimate.sharding not in (ZERO3, FSDP)

    def bytes_of(self, numbers: int) -> int:
        """Return the bytes of a count of numbers in the precision of the weights."""
        return -(-numbers * BITS[self.estimate.precision] // 8)

    @cached_property
    def stage_layers(self) -> int:
        """Layers of the largest pipeline stage."""
        return -(-self.shape.layers // self.parallel.pp)

    @cached_property
    def experts(self) -> int:
        """Parameters of routed experts on an accelerator."""
        total = self.shape.expert_parameters
        return -(-total * self.stage_layers // (self.shape.layers * self.expert_degree)) if total else 0

    @cached_property
    def dense(self) -> int:
        """Dense parameters on an accelerator: those of a stage with the embedding, divided by tp.

        With several stages the head is on another stage than the embedding. Source: Megatron-LM,
        megatron/training/theoretical_memory_usage.py.
        """
        shape, parallel = self.shape, self.parallel
        rest = shape.total - shape.expert_parameters
        if parallel.pp == 1:
            return -(-rest // parallel.tp)
        if not shape.layers:
            return -(-rest // (parallel.pp * parallel.tp))
        layers = max(0, rest - shape.embedding - shape.head)
        return -(-(layers * self.stage_layers + shape.embedding * shape.layers) // (shape.layers * parallel.tp))

    @property
    def parameters(self) -> WeightShare:
        """Parameters on an accelerator, before data parallel sharding."""
        return WeightShare(self.dense, self.experts)

    @property
    def trained(self) -> WeightShare:
        """Trained parameters on an accelerator: all, unless a number or adapters are stated."""
        every, estimate = self.shape.total, self.estimate
        if not (estimate.trainable or estimate.lora_rank):
            return self.parameters
        count = min(estimate.trainable or self.shape.adapters(estimate.lora_rank), every)
        return WeightShare(-(-count * self.dense // every), -(-count * self.experts // every))

    @property
    def tokens(self) -> int:
        """Tokens of a micro batch on an accelerator; cp ranks divide every sequence."""
        return -(-self.estimate.sequence * self.estimate.micro_batch // self.parallel.cp)
