"""Models whose numbers are known, by their official id on Hugging Face.

Source: the `config.json` of each model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from .card import ModelCard

_QWEN2 = {
    "0.5B": (14, 2, 24, 151_936, 494_032_768), "1.5B": (12, 2, 28, 151_936, 1_543_714_304), "3B": (16, 2, 36, 151_936, 3_085_938_688),
    "7B": (28, 4, 28, 152_064, 7_615_616_512), "14B": (40, 8, 48, 152_064, 14_770_033_664), "32B": (40, 8, 64, 152_064, 32_763_876_352),
    "72B": (64, 8, 80, 152_064, 72_706_203_648),
}  # fmt: skip
_QWEN3 = {
    "0.6B": (16, 8, 28, 0, 596_049_920), "1.7B": (16, 8, 28, 0, 1_720_574_976), "4B": (32, 8, 36, 0, 4_022_468_096),
    "8B": (32, 8, 36, 0, 8_190_735_360), "14B": (40, 8, 40, 0, 14_768_307_200), "32B": (64, 8, 64, 0, 32_762_123_264),
    "30B-A3B": (32, 4, 48, 128, 30_532_122_624), "235B-A22B": (64, 4, 94, 128, 235_093_634_560),
}  # fmt: skip
_LLAMA = {
    "1B": (32, 8, 16, 1_235_814_400), "3B": (24, 8, 28, 3_212_749_824), "8B": (32, 8, 32, 8_030_261_248), "70B": (64, 8, 80, 70_553_706_496),
}  # fmt: skip
_OTHERS = {"Qwen/Qwen2.5-VL": 0, "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": 1_777_088_000}
"""What is not as large as its family: the part for images is not counted here; a head that is not the embedding too."""
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
            heads, kv_heads, layers, vocabulary, parameters = _QWEN2[size]
            parameters = _OTHERS.get(family, _OTHERS.get(f"{family}-{size}", parameters))
            card = ModelCard("", heads, kv_heads, layers, vocabulary, parameters=parameters)
            yield from (replace(card, name=f"{family}-{size}{ending}") for ending in endings)
    for size, (heads, kv_heads, layers, experts, parameters) in _QWEN3.items():
        card = ModelCard("", heads, kv_heads, layers, 151_936, experts, parameters=parameters)
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
        yield ModelCard(f"deepseek-ai/deepseek-llm-7b-{ending}", 32, 32, 30, 102_400, parameters=6_910_365_696)
    for name in ("DeepSeek-V3", "DeepSeek-V3-Base", "DeepSeek-V3-0324", "DeepSeek-R1", "DeepSeek-R1-0528"):
        yield ModelCard(f"deepseek-ai/{name}", 128, 128, 61, 129_280, 256, parameters=671_026_419_200)


def _llama(size: str) -> ModelCard:
    heads, kv_heads, layers, parameters = _LLAMA[size]
    return ModelCard("", heads, kv_heads, layers, 128_256, parameters=parameters)


KNOWN = {card.name: card for card in _cards()}
"""Official id -> its card."""
_BY_LAST_PART = {name.rpartition("/")[2]: card for name, card in KNOWN.items()}


def known_model(path: str) -> ModelCard | None:
    """The card of an official id; of a path that ends like one, as an assumption. None for any other model."""
    if path in KNOWN:
        return KNOWN[path]
    card = _BY_LAST_PART.get(path.rstrip("/").rpartition("/")[2])
    return replace(card, assumed=True) if card else None
