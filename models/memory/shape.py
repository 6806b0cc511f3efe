"""Shape of a model from a card or the user, with parameter counts."""

from __future__ import annotations

from functools import cached_property

from ..estimate import MemoryInput
from ..model_cards.card import ModelCard
from ..record import dataclass

GATED = 3
"""Matrices in the feed-forward part of a layer: gate, up and down.

All models of models/model_cards/known.py have them (SwiGLU, arXiv 2002.05202).
"""


@dataclass(frozen=True)
class ModelShape:
    """Numbers of a model, 0 if unknown; see ModelCard.

    `stated` is the known number of parameters. `partial`: the numbers are those of the language
    model, beside parts for images or sound.
    """

    stated: int = 0
    layers: int = 0
    hidden: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_size: int = 0
    intermediate: int = 0
    vocabulary: int = 0
    experts: int = 0
    expert_intermediate: int = 0
    shared_experts: int = 0
    active_experts: int = 0
    dense_layers: int = 0
    latent: int = 0
    query_latent: int = 0
    rope: int = 0
    value_size: int = 0
    tied: bool = False
    partial: bool = False

    @cached_property
    def embedding(self) -> int:
        """Parameters of the embedding."""
        return self.vocabulary * self.hidden

    @cached_property
    def head(self) -> int:
        """Parameters of a head that differs from the embedding."""
        if not self.stated or not self._in_layers:
            return 0 if self.tied else self.embedding
        rest = self.stated - self._in_layers  # the remainder shows if there is a head
        return self.embedding if 2 * rest > 3 * self.embedding else 0

    @cached_property
    def expert_parameters(self) -> int:
        """Parameters of all routed experts, at most the stated number."""
        computed = GATED * self.experts * self.hidden * self.expert_intermediate * max(0, self.layers - self.dense_layers)
        return min(computed, self.stated) if self.stated else computed

    @cached_property
    def _in_layers(self) -> int:
        """Parameters of all layers; 0 if the shape is unknown."""
        if not self._is_known:
            return 0
        attention = sum(rows * columns for rows, columns in self._attention)
        shared = self.experts * self.hidden + GATED * self.hidden * self.expert_intermediate * self.shared_experts
        forward = (
            self._layers_without_experts * GATED * self.hidden * self.intermediate + (self.layers - self._layers_without_experts) * shared
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
        return bool(self.layers and self.hidden and all(rows and columns for rows, columns in self._attention) and self._feed_forward_width)

    @property
    def _feed_forward_width(self) -> int:
        return self.intermediate or self.expert_intermediate

    @property
    def _layers_without_experts(self) -> int:
        return self.dense_layers if self.experts else self.layers

    @property
    def _attention(self) -> tuple[tuple[int, int], ...]:
        """Matrices of attention in a layer: queries, keys, values, and output.

        With a latent: into the latents, from each latent to its heads, and output (DeepSeek-V2,
        arXiv 2405.04434, section 2.1; its appendix C has the formulas).
        """
        hidden, queries, kv = self.hidden, self.heads * self.head_size, (self.kv_heads or self.heads) * self.head_size
        if not self.latent:
            return (hidden, queries), (hidden, kv), (hidden, kv), (queries, hidden)
        if not (self.rope and self.value_size):
            return ((0, 0),)
        into = ((hidden, self.query_latent), (self.query_latent, queries)) if self.query_latent else ((hidden, queries),)
        values = self.heads * self.value_size
        return *into, (hidden, self.latent), (self.latent - self.rope, queries - self.heads * self.rope + values), (values, hidden)

    @cached_property
    def counted(self) -> int:
        """Parameters computed from the shape; 0 if unknown.

        Without norms and biases, and of the language model alone.
        """
        return self._in_layers + self.embedding + (0 if self.tied else self.embedding) if self._in_layers else 0

    @property
    def parameters(self) -> int:
        """All parameters: stated, else computed from the shape; 0 if unknown."""
        return self.stated or self.counted

    @cached_property
    def cached(self) -> int:
        """Numbers that a layer caches per token: keys and values of all heads, or the latent."""
        return self.latent or 2 * (self.kv_heads or self.heads) * self.head_size


def shape_of(estimate: MemoryInput, card: ModelCard | None) -> ModelShape:
    """Return the shape of a component's model; the estimate overrides the card."""
    known = card or ModelCard("")

    def number(name: str) -> int:
        return int(getattr(estimate, name) or getattr(known, name))

    heads, hidden = number("heads"), number("hidden")
    # Mixtral's configuration has the width of an expert under `intermediate_size`.
    expert_width = number("expert_intermediate") or (number("intermediate") if number("experts") else 0)
    stated = estimate.parameters or (0 if _overrides_shape(estimate) else known.parameters)
    return ModelShape(
        stated, number("layers"), hidden, heads, number("kv_heads") or heads, number("head_size") or (hidden // heads if heads else 0),
        number("intermediate"), number("vocabulary"), number("experts"), expert_width, known.shared_experts,
        known.active_experts, known.dense_layers,
        known.latent, known.query_latent, known.rope, known.value_size,
        bool(known.tied), known.multimodal,
    )  # fmt: skip


def _overrides_shape(estimate: MemoryInput) -> bool:
    """Return True if the user states numbers that decide the parameter count."""
    return any((estimate.layers, estimate.hidden, estimate.intermediate, estimate.vocabulary, estimate.experts))
