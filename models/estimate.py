"""What a user says of a model and of how it is run, where the memory that it needs is to be estimated."""

from __future__ import annotations

from dataclasses import field, fields

from .record import dataclass

BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
"""Precision -> bits of a number."""
TRAINABLE = ("bf16", "fp16", "fp32")
"""The precisions that weights are trained in."""
NONE = "none"
OPTIMIZERS = {"adam": 8, "adam8bit": 2, "momentum": 4, "sgd": 0, NONE: 0}
"""Optimizer -> bytes of its state for each parameter.

`adam` has two moments of 4 bytes (ZeRO, arXiv 1910.02054, section 3.1), `adam8bit` two of one byte (arXiv 2110.02861), `momentum` one of 4.
"""
ZERO1, ZERO2, ZERO3, FSDP, MEGATRON, DISTRIBUTED = "zero1", "zero2", "zero3", "fsdp", "megatron", "distributed"
SHARDINGS = (NONE, ZERO1, ZERO2, ZERO3, FSDP, MEGATRON, DISTRIBUTED)
"""What data parallel ranks divide among themselves.

`none`: nothing. `zero1`, `zero2`, `zero3`: the optimizer; and the gradients; and the weights (arXiv 1910.02054). `fsdp`: all of it, with weights
and gradients in 32 bits (arXiv 2304.11277). `megatron`: nothing, with gradients in 32 bits. `distributed`: Megatron's distributed optimizer.
"""
FULL, SELECTIVE = "full", "selective"
RECOMPUTED = (FULL, SELECTIVE, NONE)
"""What of the activations is computed again in the backward pass: all but the inputs of layers, attention, or nothing (arXiv 2205.05198)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of a component's model, and how it is run. Numbers are 0 and words "" where nothing is said.

    Attributes
    ----------
    model : id of a model whose numbers are known.
    parameters : all weights of the model; `trainable` of them are trained, as where adapters are.
    lora_rank : the rank of adapters beside all matrices of all layers, which alone are trained; 0 where there are none.
    layers, hidden, heads, kv_heads, head_size, intermediate, vocabulary, experts, expert_intermediate : the shape of the model (see ModelCard).
    precision : of the weights while they work, one of `BITS`.
    optimizer : one of `OPTIMIZERS`; "": Adam for what is trained by its role, none for anything else.
    sharding : one of `SHARDINGS`; `shards` ranks divide among themselves, others hold the same (hybrid sharding; 0: all of them divide).
    sequence : tokens of one sequence, prompt and answer.
    micro_batch : sequences that one data parallel rank works on at a time.
    recompute : one of `RECOMPUTED`.
    attention_scores : are the scores of attention stored, as without flash attention?
    sequences : sequences that one replica of an engine holds in its cache at the same time.
    cache : the precision of the cache; "": that of the weights, at least 16 bits.
    utilization : percent of each accelerator that an engine takes for itself; 0: what it needs.
    offload : does it leave its accelerators while another phase runs?
    written : the keys that somebody wrote; what a framework's settings say goes before the usual values of the others.
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
    precision: str = "bf16"
    optimizer: str = ""
    sharding: str = NONE
    shards: int = 0
    sequence: int = 0
    micro_batch: int = 1
    recompute: str = FULL
    attention_scores: bool = False
    sequences: int = 0
    cache: str = ""
    utilization: int = 0
    offload: bool = False
    written: tuple[str, ...] = field(default=(), compare=False)

    @property
    def divided_among(self) -> int:
        """How many ranks are one group that divides something among themselves; 0 where all of them are, or nothing is divided."""
        return 0 if self.sharding in (NONE, MEGATRON) else self.shards


def said_of(estimate: Estimate) -> dict[str, object]:
    """What a file says of it: every key whose value is not the usual one."""
    values = ((each.name, getattr(estimate, each.name), each.default) for each in fields(Estimate) if each.compare)
    return {name: value for name, value, usual in values if value != usual}
