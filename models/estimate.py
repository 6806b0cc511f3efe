"""User input of the memory estimate: the model and how it is run."""

from __future__ import annotations

from dataclasses import field, fields

from .record import dataclass

BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
"""Precision -> bits per number."""
TRAINABLE = ("bf16", "fp16", "fp32")
"""Precisions for trained weights."""
NONE = "none"
ADAM, ADAM_16 = "adam", "adam16"
OPTIMIZERS = {ADAM: 8, ADAM_16: 4, "adam8bit": 2, "momentum": 4, "sgd": 0, NONE: 0}
"""Optimizer -> bytes of state per parameter.

`adam` has two moments of 4 bytes (ZeRO, arXiv 1910.02054, section 3.1), `adam8bit` two of one byte
(arXiv 2110.02861), `momentum` one of 4. `adam16` trains weights of 16 bits as they are: two moments
of 2 bytes, no copy in 32 bits (PyTorch, torch/optim/adamw.py, of parameters in bfloat16).
"""
ZERO1, ZERO2, ZERO3, FSDP, MEGATRON, DISTRIBUTED = "zero1", "zero2", "zero3", "fsdp", "megatron", "distributed"
SHARDINGS = (NONE, ZERO1, ZERO2, ZERO3, FSDP, MEGATRON, DISTRIBUTED)
"""Sharding modes of data parallel ranks.

`none`: nothing. `zero1`, `zero2`, `zero3`: the optimizer; also gradients; also weights (arXiv
1910.02054). `fsdp`: everything, with weights and gradients in 32 bits (arXiv 2304.11277).
`megatron`: nothing, with gradients in 32 bits. `distributed`: Megatron's distributed optimizer.
"""
FULL, SELECTIVE = "full", "selective"
RECOMPUTED = (FULL, SELECTIVE, NONE)
"""Activations recomputed in the backward pass (arXiv 2205.05198).

`full`: all but the inputs of layers. `selective`: attention. `none`: nothing.
"""

WHOLE, CHUNKED = "whole", "chunked"
LOGITS = (WHOLE, CHUNKED)
"""How a loss works on logits: on all of a micro batch in 32 bits, or fused or in chunks of tokens."""


@dataclass(frozen=True, slots=True)
class MemoryInput:
    """Model of a component and how it is run; unspecified values are 0 or "".

    Attributes
    ----------
    model : id of a known model.
    parameters : all weights of the model; `trainable` of them are trained, such as adapters.
    lora_rank : rank of adapters on all matrices of all layers; only they are trained. 0 without
        adapters.
    layers, hidden, heads, kv_heads, head_size, intermediate, vocabulary, experts,
        expert_intermediate, shared_experts, active_experts, dense_layers, latent, query_latent, rope,
        value_size : shape of the model (see ModelCard).
    positions : tokens of the longest sequence that the model takes.
    precision : precision of working weights, a key of `BITS`.
    optimizer : a key of `OPTIMIZERS`; "": Adam for roles that are trained, else none.
    sharding : a value of `SHARDINGS`.
    shards : ranks per sharding group; groups hold copies (hybrid sharding). 0: all ranks are one
        group.
    expert_tp : tensor parallel size of routed experts in training; 0: that of the model.
    sequence : tokens of one sequence, prompt and answer.
    micro_batch : sequences that one data parallel rank processes at a time.
    micro_batches : micro batches of one optimizer step on a rank; 0 if unknown. With one, no
        gradients of an earlier one wait during the loss.
    recompute : a value of `RECOMPUTED`.
    logits : a value of `LOGITS`; "" if unknown.
    attention_scores : True if attention scores are stored, as without flash attention.
    sequences : sequences that one engine replica caches at the same time.
    cache : precision of the cache; "": precision of the weights, at least 16 bits.
    utilization : percent of each accelerator that an engine reserves; 0: what it needs.
    offload : True if the component leaves its accelerators during other phases.
    written : explicitly written keys; framework settings override the defaults of the others.
    """

    model: str = ""
    parameters: int = 0
    trainable: int = 0
    lora_rank: int = 0
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
    positions: int = 0
    precision: str = "bf16"
    optimizer: str = ""
    sharding: str = NONE
    shards: int = 0
    expert_tp: int = 0
    sequence: int = 0
    micro_batch: int = 1
    micro_batches: int = 0
    recompute: str = FULL
    logits: str = ""
    attention_scores: bool = False
    sequences: int = 0
    cache: str = ""
    utilization: int = 0
    offload: bool = False
    written: tuple[str, ...] = field(default=(), compare=False)

    @property
    def divided_among(self) -> int:
        """Ranks per sharding group; 0 for a single group, or if nothing is divided."""
        return 0 if self.sharding in (NONE, MEGATRON) else self.shards


def non_default_keys(estimate: MemoryInput) -> dict[str, object]:
    """Return the non-default keys of an estimate, as a file states them."""
    values = ((entry.name, getattr(estimate, entry.name), entry.default) for entry in fields(MemoryInput) if entry.compare)
    return {name: value for name, value, default in values if value != default}


@dataclass(frozen=True, slots=True)
class OnSize:
    """MiB while working and MiB kept in other phases, on accelerators of `capacity` MiB."""

    capacity: int
    memory: int
    kept: int
