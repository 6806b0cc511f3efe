"""Known models by their official id on Hugging Face.

Source: the `config.json` of each model. The numbers of parameters follow from its shape with its
norms and biases, one by one, and are those of its weights (tests/models/memory/test_parameters.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from .card import ModelCard

_QWEN2 = {
    "0.5B": (14, 2, 24, 151_936, 494_032_768, 896, 4864), "1.5B": (12, 2, 28, 151_936, 1_543_714_304, 1536, 8960),
    "3B": (16, 2, 36, 151_936, 3_085_938_688, 2048, 11_008), "7B": (28, 4, 28, 152_064, 7_615_616_512, 3584, 18_944),
    "14B": (40, 8, 48, 152_064, 14_770_033_664, 5120, 13_824), "32B": (40, 8, 64, 152_064, 32_763_876_352, 5120, 27_648),
    "72B": (64, 8, 80, 152_064, 72_706_203_648, 8192, 29_568),
}  # fmt: skip
"""Heads, key-value heads, layers, vocabulary, parameters, width, feed-forward width."""
_QWEN3 = {
    "0.6B": (16, 8, 28, 0, 596_049_920, 1024, 3072), "1.7B": (16, 8, 28, 0, 1_720_574_976, 2048, 6144),
    "4B": (32, 8, 36, 0, 4_022_468_096, 2560, 9728), "8B": (32, 8, 36, 0, 8_190_735_360, 4096, 12_288),
    "14B": (40, 8, 40, 0, 14_768_307_200, 5120, 17_408), "32B": (64, 8, 64, 0, 32_762_123_264, 5120, 25_600),
    "30B-A3B": (32, 4, 48, 128, 30_532_122_624, 2048, 768), "235B-A22B": (64, 4, 94, 128, 235_093_634_560, 4096, 1536),
}  # fmt: skip
"""Heads, key-value heads, layers, experts, parameters, width, feed-forward or expert width."""
_LLAMA = {
    "1B": (32, 8, 16, 1_235_814_400, 2048, 8192), "3B": (24, 8, 28, 3_212_749_824, 3072, 8192),
    "8B": (32, 8, 32, 8_030_261_248, 4096, 14_336), "70B": (64, 8, 80, 70_553_706_496, 8192, 28_672),
}  # fmt: skip
_TIED = ("0.5B", "0.6B", "1B", "1.5B", "1.7B", "3B", "4B")
"""Sizes with tied head and embedding: small sizes of every family, except for `_OTHERS`."""
_OTHERS = {"Qwen/Qwen2.5-VL": 0, "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": 1_777_088_000}
"""Parameters of models that differ from their family: an image part, an untied head."""
_QWEN3_VARIANTS = {
    "0.6B": ("", "-Base"), "1.7B": ("", "-Base"), "4B": ("", "-Base", "-Instruct-2507", "-Thinking-2507"), "8B": ("", "-Base"),
    "14B": ("", "-Base"), "32B": ("",), "30B-A3B": ("", "-Base", "-Instruct-2507", "-Thinking-2507"),
    "235B-A22B": ("", "-Instruct-2507", "-Thinking-2507"),
}  # fmt: skip


def _cards() -> Iterator[ModelCard]:
    for family, sizes, endings in (
        ("Qwen/Qwen2", ("0.5B", "1.5B", "7B", "72B"), ("", "-Instruct")),
        ("Qwen/Qwen2.5", tuple(_QWEN2), ("", "-Instruct")),
        ("Qwen/Qwen2.5-Coder", tuple(_QWEN2)[:6], ("", "-Instruct")),
        ("Qwen/Qwen2.5-Math", ("1.5B", "7B", "72B"), ("", "-Instruct")),
        ("Qwen/Qwen2.5-VL", ("3B", "7B", "32B", "72B"), ("-Instruct",)),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen", ("1.5B", "7B", "14B", "32B"), ("",)),
    ):
        for size in sizes:
            heads, kv_heads, layers, vocabulary, parameters, hidden, intermediate = _QWEN2[size]
            parameters = _OTHERS.get(family, _OTHERS.get(f"{family}-{size}", parameters))
            tied = int(size in _TIED and f"{family}-{size}" not in _OTHERS)
            card = ModelCard(
                "", heads, kv_heads, layers, vocabulary, parameters=parameters, hidden=hidden, head_size=hidden // heads,
                intermediate=intermediate, tied=tied, multimodal=family.endswith("-VL"),
            )  # fmt: skip
            yield from (replace(card, name=f"{family}-{size}{ending}") for ending in endings)
    for size, (heads, kv_heads, layers, experts, parameters, hidden, width) in _QWEN3.items():
        card = ModelCard(
            "", heads, kv_heads, layers, 151_936, experts, parameters=parameters, hidden=hidden, head_size=128,
            intermediate=0 if experts else width, expert_intermediate=width if experts else 0, active_experts=8 if experts else 0, tied=int(size in _TIED),
        )  # fmt: skip
        yield from (replace(card, name=f"Qwen/Qwen3-{size}{ending}") for ending in _QWEN3_VARIANTS[size])
    for family, sizes in (
        ("Meta-Llama-3", ("8B", "70B")),
        ("Llama-3.1", ("8B", "70B")),
        ("Llama-3.2", ("1B", "3B")),
        ("Llama-3.3", ("70B",)),
    ):
        for size in sizes:
            yield from (replace(_llama(size), name=f"meta-llama/{family}-{size}{ending}") for ending in ("", "-Instruct"))
    for size in ("8B", "70B"):
        yield replace(_llama(size), name=f"deepseek-ai/DeepSeek-R1-Distill-Llama-{size}")
    for ending in ("base", "chat"):
        yield ModelCard(
            f"deepseek-ai/deepseek-llm-7b-{ending}", 32, 32, 30, 102_400, parameters=6_910_365_696, hidden=4096, head_size=128,
            intermediate=11_008,
        )  # fmt: skip
    for name in ("DeepSeek-V3", "DeepSeek-V3-Base", "DeepSeek-V3-0324", "DeepSeek-R1", "DeepSeek-R1-0528"):
        yield ModelCard(
            f"deepseek-ai/{name}", 128, 128, 61, 129_280, 256, parameters=671_026_419_200, hidden=7168, head_size=192, expert_intermediate=2048, dense_layers=3,
            intermediate=18_432, shared_experts=1, active_experts=8, latent=576, query_latent=1536, rope=64, value_size=128,
        )  # fmt: skip


def _llama(size: str) -> ModelCard:
    heads, kv_heads, layers, parameters, hidden, intermediate = _LLAMA[size]
    return ModelCard(
        "", heads, kv_heads, layers, 128_256, parameters=parameters, hidden=hidden, head_size=hidden // heads, intermediate=intermediate,
        tied=int(size in _TIED),
    )  # fmt: skip


KNOWN = {card.name: card for card in _cards()}
"""Official id -> card."""
_BY_LAST_PART = {name.rpartition("/")[2]: card for name, card in KNOWN.items()}


def known_model(path: str) -> ModelCard | None:
    """Return the card of an official id, or (assumed) of a path with that end. Else None."""
    if path in KNOWN:
        return KNOWN[path]
    card = _BY_LAST_PART.get(path.rstrip("/").rpartition("/")[2])
    return replace(card, assumed=True) if card else None
