"""Estimates against figures that others published: each figure stands in the place that its test names, as it is printed there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, ZERO1, ZERO2, ZERO3, MemoryInput
from placewright.models.memory.estimate import EstimatedTotal, estimate_memory
from placewright.models.model_cards.known import known_model
from placewright.models.parallel import UNDIVIDED

GIGABYTE, GIBIBYTE = 10**9, 1 << 30


def of(
    estimate: MemoryInput, accelerators: int = 1, parallel: Parallel = UNDIVIDED, role: str = "actor", model: str = ""
) -> EstimatedTotal:
    """The estimate of a component of this role."""
    found = estimate_memory(Component(role, estimate=estimate), known_model(model) if model else None, parallel, accelerators)
    assert found is not None
    return found


def size(found: EstimatedTotal, *names: str) -> int:
    """Bytes of the terms of these names; of all where none is named."""
    return sum(term.size for term in found.terms if not names or term.name in names)


@pytest.mark.parametrize(
    ("sharding", "gigabytes"), [(NONE, "120"), (ZERO1, "31.4"), (ZERO2, "16.6"), (ZERO3, "1.9")]
)  # fmt: skip
def test_zero_on_64_accelerators(sharding: str, gigabytes: str) -> None:
    """ZeRO, arXiv 1910.02054, figure 1: 7.5B parameters, Adam, 64 data parallel ranks."""
    found = of(MemoryInput(parameters=7_500_000_000, sharding=sharding), 64)
    digits = len(gigabytes.partition(".")[2])
    assert f"{size(found, 'weights', 'gradients', 'optimizer') / GIGABYTE:.{digits}f}" == gigabytes


@pytest.mark.parametrize("ranks", [1, 4, 64])
@pytest.mark.parametrize(
    ("precision", "whole", "fixed", "divided"), [("fp16", 20, 4, 16), ("bf16", 18, 6, 12), ("fp32", 16, 8, 8)]
)  # fmt: skip
def test_bytes_per_parameter_of_megatron(precision: str, whole: int, fixed: int, divided: int, ranks: int) -> None:
    """Megatron-LM, docs/user-guide/features/dist_optimizer.md: the table of bytes per parameter."""
    count = 64_000_000
    without = of(MemoryInput(parameters=count, precision=precision, sharding=MEGATRON), ranks)
    spread = of(MemoryInput(parameters=count, precision=precision, sharding=DISTRIBUTED), ranks)
    names = "weights", "gradients", "optimizer"
    assert size(without, *names) == whole * count
    assert size(spread, *names) == fixed * count + divided * count // ranks


def test_fsdp_needs_what_zero3_needs() -> None:
    """Weights, gradients and two moments in 32 bits are 16 bytes, as are ZeRO's: computed, from PyTorch FSDP, arXiv 2304.11277, section 4.4."""
    names = "weights", "gradients", "optimizer"
    for ranks in (1, 8, 64):
        one, other = (of(MemoryInput(parameters=8_000_000_000, sharding=sharding), ranks) for sharding in (FSDP, ZERO3))
        assert size(one, *names) == size(other, *names) == 16 * 8_000_000_000 // ranks


@pytest.mark.parametrize(
    ("model", "tokens", "gibibytes"),
    [
        ("meta-llama/Llama-3.1-8B", 1024, 0.125), ("meta-llama/Llama-3.1-8B", 16_000, 1.95), ("meta-llama/Llama-3.1-8B", 128_000, 15.62),
        ("meta-llama/Llama-3.1-70B", 1024, 0.313), ("meta-llama/Llama-3.1-70B", 16_000, 4.88), ("meta-llama/Llama-3.1-70B", 128_000, 39.06),
    ],
)  # fmt: skip
def test_cache_of_llama(model: str, tokens: int, gibibytes: float) -> None:
    """Hugging Face, "Llama 3.1" (huggingface.co/blog/llama31), inference memory requirements: the cache in 16 bits."""
    found = of(MemoryInput(sequence=tokens), role="rollout", model=model)
    assert size(found, "cache") / GIBIBYTE == pytest.approx(gibibytes, abs=0.006)


@pytest.mark.parametrize(
    ("model", "kilobytes"), [("deepseek-ai/DeepSeek-V3", 70.272), ("Qwen/Qwen2.5-72B", 327.680)]
)  # fmt: skip
def test_cache_of_a_token(model: str, kilobytes: float) -> None:
    """Insights into DeepSeek-V3, arXiv 2505.09343, table 1: the cache of one token in 16 bits, in thousands of bytes."""
    assert size(of(MemoryInput(sequence=1), role="rollout", model=model), "cache") == round(kilobytes * 1000)


def test_cache_of_a_token_of_the_largest_llama() -> None:
    """The same table: 516.096 KB of LLaMA-3.1 405B, whose shape is in The Llama 3 Herd of Models, arXiv 2407.21783, table 3."""
    llama = MemoryInput(parameters=405 * GIGABYTE, layers=126, hidden=16_384, heads=128, kv_heads=8, sequence=1)
    assert size(of(llama, role="rollout"), "cache") == 516_096


def test_cache_of_opt() -> None:
    """PagedAttention, arXiv 2309.06180, section 3: 800 KB for a token of OPT 13B, up to 1.6 GB for the 2048 of a sequence."""
    opt = MemoryInput(parameters=13_000_000_000, layers=40, hidden=5120, heads=40, sequence=1)
    assert size(of(opt, role="rollout"), "cache") == 800 * 1024
    assert size(of(replace(opt, sequence=2048), role="rollout"), "cache") / GIBIBYTE == pytest.approx(1.6, abs=0.05)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "scores"), [(96, 12_288, 96, 80), (105, 20_480, 128, 64)]
)  # fmt: skip
def test_activations_of_a_layer(layers: int, hidden: int, heads: int, scores: int) -> None:
    """Reducing Activation Recomputation, arXiv 2205.05198, equation 1: s b h (34 + 5 a s / h) bytes; section 5: 5 a s / h is 80 for GPT-3
    and 64 for MT-NLG; table 2: 34 with selective and 2 with full recomputation.

    Two of the 34 are dropout, which models of today have not. A gated part of 2 x the width keeps what one of 4 x the width without gate does.
    """
    sequence = 2048
    shape = MemoryInput(parameters=10**9, layers=layers, hidden=hidden, heads=heads, intermediate=2 * hidden, sequence=sequence)
    flash = of(replace(shape, recompute=SELECTIVE))
    stored = of(replace(shape, recompute=NONE, attention_scores=True))
    assert size(flash, "activations") == sequence * hidden * (34 - 2) * layers
    assert size(stored, "activations") == sequence * hidden * (34 - 2 + scores) * layers
    assert size(of(replace(shape, recompute=FULL)), "inputs of layers") == 2 * sequence * hidden * layers


def test_activations_with_tensor_and_pipeline_parallelism() -> None:
    """The same paper, equations 5 and 6: the first stage holds activations of all layers, p x L / p of them; tp ranks with sequence parallelism
    divide them."""
    shape = MemoryInput(parameters=10**9, layers=96, hidden=12_288, heads=96, intermediate=24_576, sequence=2048, recompute=SELECTIVE)
    alone = size(of(shape), "activations")
    for tp, pp in ((8, 1), (1, 8), (8, 8), (4, 16)):
        assert size(of(shape, tp * pp, Parallel(tp=tp, pp=pp)), "activations") == alone // tp


def test_logits_are_of_the_last_stage() -> None:
    """The same paper, section 4.3: 4 s b v / t bytes, which the first stage holds only where there is one stage.

    The last stage has one micro batch in flight (1F1B), and is the fullest where its logits are more than all those that the first one holds.
    """
    small = MemoryInput(
        parameters=10**9, layers=16, hidden=2048, heads=32, intermediate=8192, vocabulary=128_256, sequence=4096, sharding=MEGATRON
    )  # fmt: skip
    names = [
        [term.name for term in of(replace(small, recompute=recompute), pp, Parallel(pp=pp)).terms if not term.stays]
        for recompute, pp in ((FULL, 1), (FULL, 4), (SELECTIVE, 4))
    ]
    loss = ["inputs of layers", "logits", "allocator"]
    assert names == [loss, loss, ["activations", "allocator"]]
    (logits,) = [term for term in of(small, 4, Parallel(pp=4)).terms if term.name == "logits"]
    assert logits.low == 4 * 4096 * 128_256
    assert size(of(small, 4, Parallel(pp=4)), "inputs of layers") == size(of(small), "inputs of layers") // 4
