"""How many parameters a model has: counted from its `config.json`, against what its makers publish."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.component import Component
from placewright.models.estimate import MemoryInput
from placewright.models.memory.estimate import estimate_memory
from placewright.models.memory.work import shape_of
from placewright.models.model_cards.card import ModelCard, card_of
from placewright.models.model_cards.known import KNOWN
from placewright.models.parallel import UNDIVIDED

BILLION = 10**9


def config(heads: int, kv_heads: int, layers: int, vocabulary: int, hidden: int, intermediate: int, **more: Any) -> dict[str, Any]:
    """What a `config.json` says."""
    return {
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "num_hidden_layers": layers, "vocab_size": vocabulary,
        "hidden_size": hidden, "intermediate_size": intermediate, "tie_word_embeddings": False, **more,
    }  # fmt: skip


TIED = {"tie_word_embeddings": True}
QWEN3_30B = {"head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}
QWEN3_235B = {**QWEN3_30B, "moe_intermediate_size": 1536}
QWEN2_57B = {"num_experts": 64, "num_experts_per_tok": 8, "moe_intermediate_size": 2560, "shared_expert_intermediate_size": 20_480}
DEEPSEEK_V3 = {
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
}  # fmt: skip
DEEPSEEK_V2_LITE = {
    "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1,
    "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
}  # fmt: skip
PUBLISHED = {
    "Qwen2.5-0.5B": (config(14, 2, 24, 151_936, 896, 4864, **TIED), 494_032_768),
    "Qwen2.5-1.5B": (config(12, 2, 28, 151_936, 1536, 8960, **TIED), 1_543_714_304),
    "Qwen2.5-7B": (config(28, 4, 28, 152_064, 3584, 18_944), 7_615_616_512),
    "Qwen2.5-32B": (config(40, 8, 64, 152_064, 5120, 27_648), 32_763_876_352),
    "Qwen2.5-72B": (config(64, 8, 80, 152_064, 8192, 29_568), 72_706_203_648),
    "Qwen3-8B": (config(32, 8, 36, 151_936, 4096, 12_288, head_dim=128), 8_190_735_360),
    "Qwen3-30B-A3B": (config(32, 4, 48, 151_936, 2048, 6144, **QWEN3_30B), 30_532_122_624),
    "Qwen3-235B-A22B": (config(64, 4, 94, 151_936, 4096, 12_288, **QWEN3_235B), 235_093_634_560),
    "Llama-3-8B": (config(32, 8, 32, 128_256, 4096, 14_336), 8_030_261_248),
    "Llama-3-70B": (config(64, 8, 80, 128_256, 8192, 28_672), 70_553_706_496),
    "Mixtral-8x7B": (config(32, 8, 32, 32_000, 4096, 14_336, num_local_experts=8, num_experts_per_tok=2), 46_702_792_704),
    "DeepSeek-V3": (config(128, 128, 61, 129_280, 7168, 18_432, **DEEPSEEK_V3), 671_026_419_200),
}
"""Model -> its configuration, and the number of its parameters that its safetensors have on Hugging Face (of DeepSeek-V3 the main model's alone:
its README_WEIGHTS.md counts 671B there, and 11.5B more for predicting several tokens)."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_counted_from_a_configuration(name: str) -> None:
    """Within a thousandth: norms and biases are left out."""
    said, published = PUBLISHED[name]
    assert shape_of(MemoryInput(), card_of("config.json", said)).total == pytest.approx(published, rel=1e-3)


@pytest.mark.parametrize(
    ("said", "billions"),
    [(config(28, 4, 28, 151_936, 3584, 18_944, **QWEN2_57B), "57"), (config(16, 16, 27, 102_400, 2048, 10_944, **DEEPSEEK_V2_LITE), "16")],
)  # fmt: skip
def test_shared_experts_and_queries_without_a_latent(said: dict[str, Any], billions: str) -> None:
    """Qwen2, arXiv 2407.10671, table 1: 57B; DeepSeek-V2, arXiv 2405.04434, appendix B: 15.7B of DeepSeek-V2-Lite."""
    assert f"{shape_of(MemoryInput(), card_of('config.json', said)).total / BILLION:.0f}" == billions


def test_a_head_of_its_own_is_written() -> None:
    """transformers, configuration_utils.py: the head is the embedding where a configuration does not say otherwise. Gemma, arXiv 2403.08295,
    table 2: 7,751,248,896 parameters beside an embedding of 786,825,216, which is the head too."""
    said = config(16, 16, 28, 256_128, 3072, 24_576, head_dim=256)
    del said["tie_word_embeddings"]
    card = card_of("config.json", said)
    assert card.tied == 1
    assert shape_of(MemoryInput(), card).total == pytest.approx(7_751_248_896 + 786_825_216, rel=1e-3)


def test_positions_of_a_latent_are_no_size_of_a_head() -> None:
    """transformers, models/deepseek_v3/configuration_deepseek_v3.py, writes the size of the part with positions as `head_dim`."""
    said, published = PUBLISHED["DeepSeek-V3"]
    card = card_of("config.json", {**said, "head_dim": 64})
    assert (card.head_size, card.value_size, card.latent) == (192, 128, 576)
    assert shape_of(MemoryInput(), card).total == pytest.approx(published, rel=1e-3)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if "Mixtral" not in name])
def test_what_is_known_is_what_is_published(name: str) -> None:
    official = {"Llama-3": "meta-llama/Meta-Llama-3", "Qwen": "Qwen/Qwen", "DeepSeek": "deepseek-ai/DeepSeek"}
    start, whole = next((start, whole) for start, whole in official.items() if name.startswith(start))
    assert KNOWN[whole + name.removeprefix(start)].parameters == PUBLISHED[name][1]


def exact(card: ModelCard) -> int:
    """Every parameter of a known model, one by one: matrices, norms, and the biases and norms that its family has."""
    family = "2" if "Qwen2" in card.name or "Distill-Qwen" in card.name else "3" if "Qwen3" in card.name else ""
    hidden, size, heads = card.hidden, card.head_size, card.heads
    if card.latent:  # DeepSeek-V2, arXiv 2405.04434, appendix C; norms of both latents
        content, place = card.latent - card.rope, card.rope
        queries = hidden * card.query_latent + card.query_latent + card.query_latent * heads * size
        attention = queries + hidden * (content + place) + content + content * heads * (size - place + card.value_size)
        attention += heads * card.value_size * hidden
    else:
        attention = 2 * hidden * size * heads + 2 * hidden * size * card.kv_heads
        attention += {"2": size * (heads + 2 * card.kv_heads), "3": 2 * size, "": 0}[family]  # biases of Qwen2; norms of Qwen3's heads
    routed = card.layers - card.dense_layers if card.experts else 0
    experts = card.experts * hidden + 3 * hidden * card.expert_intermediate * (card.experts + card.shared_experts)
    experts += card.experts if card.latent else 0  # the bias by which DeepSeek-V3 balances its experts
    layers = card.layers * (attention + 2 * hidden) + (card.layers - routed) * 3 * hidden * card.intermediate + routed * experts
    return layers + hidden + card.vocabulary * hidden * (1 if card.tied else 2)


def test_every_known_number_is_that_of_its_shape() -> None:
    """To the last parameter, of every card that has a number; and within a thousandth without norms and biases."""
    for name, card in KNOWN.items():
        if card.parameters:
            assert exact(card) == card.parameters, name
            counted = shape_of(MemoryInput(layers=card.layers), card).counted  # with a shape of its own, no number is taken from the card
            assert counted == pytest.approx(card.parameters, rel=1e-3), name


@pytest.mark.parametrize(
    "others",
    [{"vision_config": {"depth": 32}}, {"audio_config": {"d_model": 1280}}, {"text_config": PUBLISHED["Qwen2.5-7B"][0]}],
)  # fmt: skip
def test_parts_for_images_or_sound_are_said_to_be_missing(others: dict[str, Any]) -> None:
    """They are of many kinds; their parameters are counted by nobody, and that is said, unless somebody says how many there are."""
    card, missing = (
        card_of("config.json", {**PUBLISHED["Qwen2.5-7B"][0], **others}),
        "parts of the model for images or sound: `parameters` is unset",
    )
    found = estimate_memory(Component("rollout", estimate=MemoryInput(sequence=1024)), card, UNDIVIDED, 1)
    said = estimate_memory(Component("rollout", estimate=MemoryInput(sequence=1024, parameters=8 * BILLION)), card, UNDIVIDED, 1)
    assert found is not None and found.missing == (missing,)
    assert said is not None and said.missing == ()


def test_known_models_that_see() -> None:
    found = estimate_memory(Component("rollout", estimate=MemoryInput(sequence=1024)), KNOWN["Qwen/Qwen2.5-VL-7B-Instruct"], UNDIVIDED, 1)
    assert found is not None and found.missing and found.assumed
