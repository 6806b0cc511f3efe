"""Models whose numbers are known, by their official id on Hugging Face.

Source: the `config.json` of each model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from .card import ModelCard

_QWEN2 = {
    "0.5B": (14, 2, 24, 151_936), "1.5B": (12, 2, 28, 151_936), "3B": (16, 2, 36, 151_936), "7B": (28, 4, 28, 152_064),
    "14B": (40, 8, 48, 152_064), "32B": (40, 8, 64, 152_064), "72B": (64, 8, 80, 152_064),
}  # fmt: skip
_QWEN3 = {
    "0.6B": (16, 8, 28, 0), "1.7B": (16, 8, 28, 0), "4B": (32, 8, 36, 0), "8B": (32, 8, 36, 0), "14B": (40, 8, 40, 0),
    "32B": (64, 8, 64, 0),
    "30B-A3B": (32, 4, 48, 128), "235B-A22B": (64, 4, 94, 128),
}  # fmt: skip
_LLAMA = {"1B": (32, 8, 16), "3B": (24, 8, 28), "8B": (32, 8, 32), "70B": (64, 8, 80)}
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
            heads, kv_heads, layers, vocabulary = _QWEN2[size]
            yield from (ModelCard(f"{family}-{size}{ending}", heads, kv_heads, layers, vocabulary) for ending in endings)
    for size, (heads, kv_heads, layers, experts) in _QWEN3.items():
        card = ModelCard("", heads, kv_heads, layers, 151_936, experts)
        yield from (replace(card, name=f"Qwen/Qwen3-{size}{ending}") for ending in _QWEN3_VARIANTS[size])
    for family, sizes in (
        ("Meta-Llama-3", ("8B", "70B")),
        ("Llama-3.1", ("8B", "70B")),
        ("Llama-3.2", ("1B", "3B")),
        ("Llama-3.3", ("70B",)),
    ):
        for size in sizes:
            card = ModelCard("", *_LLAMA[size], vocabulary=128_256)
            yield from (replace(card, name=f"meta-llama/{family}-{size}{ending}") for ending in ("", "-Instruct"))
    for size in ("8B", "70B"):
        yield ModelCard(f"deepseek-ai/DeepSeek-R1-Distill-Llama-{size}", *_LLAMA[size], vocabulary=128_256)
    for ending in ("base", "chat"):
        yield ModelCard(f"deepseek-ai/deepseek-llm-7b-{ending}", 32, 32, 30, 102_400)
    for name in ("DeepSeek-V3", "DeepSeek-V3-Base", "DeepSeek-V3-0324", "DeepSeek-R1", "DeepSeek-R1-0528"):
        yield ModelCard(f"deepseek-ai/{name}", 128, 128, 61, 129_280, 256)


KNOWN = {card.name: card for card in _cards()}
"""Official id -> its card."""
_BY_LAST_PART = {name.rpartition("/")[2]: card for name, card in KNOWN.items()}


def known_model(path: str) -> ModelCard | None:
    """The card of an official id; of a path that ends like one, as an assumption. None for any other model."""
    if path in KNOWN:
        return KNOWN[path]
    card = _BY_LAST_PART.get(path.rstrip("/").rpartition("/")[2])
    return replace(card, assumed=True) if card else None
