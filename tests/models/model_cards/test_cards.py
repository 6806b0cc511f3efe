"""What is known of models: by their official ids, from their own files, from the block of a configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.models.component import Parallel
from placewright.models.findings.finding import Finding, UnusableInput
from placewright.models.hints.block import model_of_block
from placewright.models.model_cards import ModelCard, Split, engine_splits, megatron_splits, ulysses_splits
from placewright.models.model_cards.card import card_of, read_model_config
from placewright.models.model_cards.known import KNOWN, known_model
from placewright.models.text.source import Source


@pytest.mark.parametrize(
    ("name", "heads", "kv_heads", "layers", "experts"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 28, 4, 28, 0),
        ("Qwen/Qwen2.5-32B", 40, 8, 64, 0),
        ("Qwen/Qwen3-30B-A3B-Base", 32, 4, 48, 128),
        ("Qwen/Qwen3-235B-A22B", 64, 4, 94, 128),
        ("meta-llama/Llama-3.2-3B-Instruct", 24, 8, 28, 0),
        ("deepseek-ai/DeepSeek-V3", 128, 128, 61, 256),
    ],
)
def test_official_ids_are_known(name: str, heads: int, kv_heads: int, layers: int, experts: int) -> None:
    card = known_model(name)
    assert card is not None and not card.assumed
    assert (card.heads, card.kv_heads, card.layers, card.experts) == (heads, kv_heads, layers, experts)


def test_every_known_model_says_what_is_divided() -> None:
    assert all(card.heads % card.kv_heads == 0 and card.layers and card.vocabulary and not card.assumed for card in KNOWN.values())
    assert len({name.rpartition("/")[2] for name in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize("path", ["/models/Qwen2.5-7B-Instruct", "/models/Qwen2.5-7B-Instruct/", "mirror/Qwen2.5-7B-Instruct"])
def test_a_path_that_ends_like_an_id_is_an_assumption(path: str) -> None:
    card = known_model(path)
    assert card is not None and card.assumed and card.name == "Qwen/Qwen2.5-7B-Instruct"


@pytest.mark.parametrize("path", ["", "/", "~/models/my-model", "Qwen/Qwen2.5-7B-Instruct-RLVR", "qwen2.5-7b-instruct"])
def test_any_other_path_says_nothing(path: str) -> None:
    assert known_model(path) is None


def test_a_configuration_of_hugging_face_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    config = {"num_attention_heads": 32, "num_key_value_heads": 4, "num_hidden_layers": 48, "vocab_size": 151936, "num_experts": 128}
    file.write_text(json.dumps(config))
    assert read_model_config(file) == ModelCard(str(file), 32, 4, 48, 151936, 128, tied=1)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"num_attention_heads": 28, "num_key_value_heads": 5}, "28 attention heads, which do not divide among 5 key-value heads"),
        ({"num_attention_heads": 32, "num_experts": 8, "num_experts_per_tok": 9}, "9 of 8 experts work on each token"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(config: dict[str, int], words: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    with pytest.raises(UnusableInput) as refused:
        read_model_config(file)
    assert words in refused.value.findings[0].message


def test_the_language_model_of_several_is_meant() -> None:
    card = card_of(
        "x", {"text_config": {"num_attention_heads": 28, "num_hidden_layers": 28}, "vision_config": {"num_heads": 16}, "vocab_size": 7}
    )
    assert card == ModelCard("x", 28, 28, 28, 7, tied=1, multimodal=True, dense=True)


@pytest.mark.parametrize(
    "config", ['{"num_attention_heads": "many", "num_hidden_layers": 28}', '{"text_config": {"num_hidden_layers": -3}}']
)
def test_a_number_that_cannot_be_is_told(tmp_path: Path, config: str) -> None:
    """It was taken as if it were not there, so that nothing was checked by it."""
    file = tmp_path / "config.json"
    file.write_text(config)
    with pytest.raises(UnusableInput, match=r"not a number of 0 or more"):
        read_model_config(file)


def test_what_families_of_models_write_otherwise_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(
        '{"num_attention_heads": 8, "num_hidden_layers": 2, "intermediate_size": [16, 32], "n_inner": null, "q_lora_rank": -1, "first_k_dense_replace": 0}'
    )
    assert (read_model_config(file).intermediate, read_model_config(file).heads) == (0, 8)


@pytest.mark.parametrize(
    ("text", "code"),
    [(None, "PW001"), ("{", "PW003"), ("[" * 100_000, "PW003"), ("{}", "PW003"), ('{"num_attention_heads": true}', "PW003")],
)
def test_a_file_that_is_none_is_said_to_be_none(tmp_path: Path, text: str | None, code: str) -> None:
    file = tmp_path / "config.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UnusableInput) as caught:
        read_model_config(file)
    assert [finding.code for finding in caught.value.findings] == [code]


def test_a_block_is_read_and_its_faults_are_told() -> None:
    findings: list[Finding] = []
    source = Source("x.yaml", "placewright: {model: {heads: 28, kvheads: 4, layers: many, experts: 0}}\n")
    assert model_of_block(source.root, findings) is None
    assert {(finding.code, finding.help) for finding in findings} == {
        ("PW104", "write `kv_heads`"),
        ("PW105", "write a whole number such as `28`"),
    }
    assert model_of_block(Source("y.yaml", "placewright: {model: {heads: 28}}\n").root, []) == ModelCard("placewright.model", 28)


@pytest.mark.parametrize(
    ("what", "amount", "degree", "either_way", "within", "fits"),
    [
        ("heads", 28, 8, False, 1, False),
        ("heads", 28, 7, False, 1, True),
        ("kv_heads", 4, 8, True, 1, True),
        ("kv_heads", 4, 6, True, 1, False),
        ("kv_heads", 8, 16, True, 1, True),
        ("layers", 48, 5, False, 4, False),
        ("layers", 48, 3, False, 4, True),
        ("layers", 47, 3, False, 4, True),  # that 4 stages do not divide 47 is said of the stages
    ],
)
def test_a_number_divides_or_is_repeated(what: str, amount: int, degree: int, either_way: bool, within: int, fits: bool) -> None:
    assert Split(what, "tp", degree, either_way, within=within).fits(amount, degree) is fits


@pytest.mark.parametrize(
    ("config", "dense"),
    [
        ({"num_attention_heads": 8}, True),
        ({"num_attention_heads": 8, "num_experts": 0, "moe_layers": None}, True),
        ({"num_attention_heads": 8, "num_local_experts": 4}, False),
        ({"num_attention_heads": 8, "moe_num_experts": [64, 64]}, False),
        ({"num_attention_heads": 8, "ffn_config": {"moe_top_k": 2}}, False),
        ({"num_attention_heads": 8, "model_type": "mixtral"}, False),
        ({"num_attention_heads": 8, "architectures": ["Qwen3MoeForCausalLM"]}, False),
        ({"num_attention_heads": 8, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}, True),
    ],
)
def test_a_configuration_that_names_no_experts_has_none(config: dict[str, object], dense: bool) -> None:
    card = card_of("x", config)
    assert card.dense is dense
    assert Split("experts", "ep").suits(card, 3) is (not dense and not card.experts) and Split("experts", "ep").suits(card, 1)


def test_a_known_model_has_experts_or_none() -> None:
    assert all(card.dense is not bool(card.experts) for card in KNOWN.values())
    assert Split("experts", "ep").suits(ModelCard("x"), 3)
    assert Split("experts", "ep", uneven=True).suits(ModelCard("x", experts=8), 3)
    assert not Split("experts", "ep", uneven=True).suits(ModelCard("x", dense=True), 3)


def test_who_divides_what() -> None:
    degrees = Parallel(tp=8, pp=4, ep=2)
    assert [(each.card_field, each.of(degrees)) for each in engine_splits({})] == [("heads", 8), ("kv_heads", 8)]
    assert [(each.card_field, each.of(degrees)) for each in ulysses_splits(16, {})] == [("heads", 16), ("kv_heads", 16)]
    assert [(each.card_field, each.of(degrees), each.within) for each in megatron_splits({}, 4, 3)] == [
        ("heads", 8, 1),
        ("kv_heads", 8, 1),
        ("layers", 4, 1),
        ("layers", 3, 4),
        ("experts", 2, 1),
    ]
    assert "layers" not in {each.card_field for each in megatron_splits({}, 4, 3, even_layers=False)}
