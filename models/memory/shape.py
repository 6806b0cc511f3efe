"""The shape of a model: what a card or the user knows of it, and how many parameters follow from that."""

from __future__ import annotations

from functools import cached_property

from ..estimate import Estimate
from ..model_cards.card import ModelCard
from ..record import dataclass

GATED = 3
"""Matrices of the feed-forward part of a layer: gate, up and down (SwiGLU, arXiv 2002.05202), as all models of models/model_cards/known.py have."""


@dataclass(frozen=True)
class Shape:
    """The numbers of a model, 0 where they are not known; see ModelCard. `said` is the number of parameters that somebody says.

    `partial` : it is that of the language model, beside which there are parts for images or sound.
    """

    said: int = 0
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
        """Parameters of a head that is not the embedding."""
        if not self.said or not self._in_layers:
            return 0 if self.tied else self.embedding
        rest = self.said - self._in_layers  # what is left of the parameters tells whether there is one
        return self.embedding if 2 * rest > 3 * self.embedding else 0

    @cached_property
    def expert_parameters(self) -> int:
        """Parameters of all routed experts of all layers; never more than somebody says that there are of all."""
        its = GATED * self.experts * self.hidden * self.expert_intermediate * max(0, self.layers - self.dense_layers)
        return min(its, self.said) if self.said else its

    @cached_property
    def _in_layers(self) -> int:
        """Parameters of all layers; 0 where the shape is not known well enough."""
        if not self._is_known:
            return 0
        attention = sum(rows * columns for rows, columns in self._attention)
        shared = self.experts * self.hidden + GATED * self.hidden * self.expert_intermediate * self.shared_experts
        forward = self._dense * GATED * self.hidden * self.intermediate + (self.layers - self._dense) * shared
        return self.layers * attention + forward + self.expert_parameters

    def adapters(self, rank: int) -> int:
        """Parameters of two matrices of this rank beside each matrix of each layer; 0 where the shape is not known well enough.

        Source: LoRA, arXiv 2106.09685, section 4.1; on all that PEFT calls `all-linear`, but for what chooses the experts.
        """
        if not self._is_known:
            return 0
        attention = sum(rows + columns for rows, columns in self._attention)
        each = GATED * (self.hidden + self.expert_intermediate) * (self.experts + self.shared_experts)
        forward = self._dense * GATED * (self.hidden + self.intermediate) + (self.layers - self._dense) * each
        return rank * (self.layers * attention + forward)

    @property
    def _is_known(self) -> bool:
        return bool(self.layers and self.hidden and all(rows and columns for rows, columns in self._attention) and self._wide)

    @property
    def _wide(self) -> int:
        return self.intermediate or self.expert_intermediate

    @property
    def _dense(self) -> int:
        """Layers without experts."""
        return self.dense_layers if self.experts else self.layers

    @property
    def _attention(self) -> tuple[tuple[int, int], ...]:
        """The matrices of attention of a layer: queries, keys, values, and out of it.

        Where keys and values come from a latent: into the latents, from each to its heads, and out (DeepSeek-V2, arXiv 2405.04434, section 2.1;
        its appendix C has the formulas).
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
        """Parameters that the shape comes to, without norms and biases, and of the language model alone; 0 where it is not known well enough."""
        return self._in_layers + self.embedding + (0 if self.tied else self.embedding) if self._in_layers else 0

    @property
    def parameters(self) -> int:
        """All parameters: those that somebody says, else those that the shape comes to; 0 where neither is known."""
        return self.said or self.counted

    @cached_property
    def cached(self) -> int:
        """Numbers that a layer caches of a token: a key and a value for each key-value head, or the latent."""
        return self.latent or 2 * (self.kv_heads or self.heads) * self.head_size


def shape_of(estimate: Estimate, card: ModelCard | None) -> Shape:
    """The shape of a component's model; what the user says goes before what its card says."""
    known = card or ModelCard("")

    def number(name: str) -> int:
        return int(getattr(estimate, name) or getattr(known, name))

    heads, hidden = number("heads"), number("hidden")
    each = number("expert_intermediate") or (number("intermediate") if number("experts") else 0)  # as Mixtral's configuration has it
    said = estimate.parameters or (0 if _reshaped(estimate) else known.parameters)
    return Shape(
        said, number("layers"), hidden, heads, number("kv_heads") or heads, number("head_size") or (hidden // heads if heads else 0),
        number("intermediate"), number("vocabulary"), number("experts"), each, known.shared_experts,
        known.active_experts, known.dense_layers,
        known.latent, known.query_latent, known.rope, known.value_size,
        bool(known.tied), known.multimodal,
    )  # fmt: skip


def _reshaped(estimate: Estimate) -> bool:
    """Does the user say himself what decides how many parameters there are?"""
    return any((estimate.layers, estimate.hidden, estimate.intermediate, estimate.vocabulary, estimate.experts))
