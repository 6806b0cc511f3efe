"""Card of a model: numbers that degrees divide, from a config.json or a block."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Mapping

from ..findings.finding import UnusableInput, error
from ..record import dataclass

NUMBERS = (
    "heads", "kv_heads", "layers", "vocabulary", "experts", "parameters", "hidden", "head_size", "intermediate", "expert_intermediate",
    "shared_experts", "active_experts", "dense_layers", "latent", "query_latent", "rope", "value_size", "tied",
)  # fmt: skip
"""The fields that are numbers."""
MAX_BYTES = 1 << 20
KEYS = {
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_key_value_heads",),
    "layers": ("num_hidden_layers", "n_layer"),
    "vocabulary": ("vocab_size",),
    "experts": ("num_experts", "n_routed_experts", "num_local_experts"),
    "hidden": ("hidden_size", "n_embd"),
    "head_size": ("head_dim",),
    "intermediate": ("intermediate_size", "n_inner"),
    "expert_intermediate": ("moe_intermediate_size",),
    "shared_experts": ("n_shared_experts",),
    "dense_layers": ("first_k_dense_replace",),
    "active_experts": ("num_experts_per_tok",),
    "latent": ("kv_lora_rank",),
    "query_latent": ("q_lora_rank",),
    "rope": ("qk_rope_head_dim",),
    "value_size": ("v_head_dim",),
}
"""Field of a card -> the keys that families of models have for it."""
_TIED, _WITHOUT_POSITION, _SHARED_WIDTH = "tie_word_embeddings", ("qk_nope_head_dim",), ("shared_expert_intermediate_size",)
_OTHER_PARTS = ("vision_config", "audio_config", "visual", "vision_tower", "mm_vision_tower")
"""What describes parts of a model for images or sound."""
_TEXT = ("text_config", "llm_config", "thinker_config")
"""Where models of several kinds of input keep the numbers of their language model."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model. Every number is 0 where it is not known.

    Attributes
    ----------
    name : what is known by it: the id of the model, or the file that says it.
    heads : attention heads of a layer; `kv_heads` of them hold keys and values.
    layers : transformer layers.
    vocabulary : tokens, padded as the checkpoint has them.
    experts : routed experts of a layer; 0 also where there are none.
    parameters : all weights, each counted once.
    hidden : the width of the model; `head_size` that of a head, `intermediate` that of the feed-forward part of a layer.
    expert_intermediate : the width of one expert; `shared_experts` of that width work on every token,
        and `active_experts` of the routed ones. The first `dense_layers` have no experts.
    latent : numbers that a layer caches of a token instead of keys and values; `rope` of them are for positions. Then `head_size` is that of
        queries and keys, `value_size` that of values, and queries come from `query_latent` numbers, where that is not 0.
    tied : 1 where the embedding and the head are the same weights.
    assumed : the model is only taken for this one, by the last part of its path.
    multimodal : the numbers are those of its language model; parts for images or sound are beside it.
    """

    name: str
    heads: int = 0
    kv_heads: int = 0
    layers: int = 0
    vocabulary: int = 0
    experts: int = 0
    assumed: bool = False
    parameters: int = 0
    hidden: int = 0
    head_size: int = 0
    intermediate: int = 0
    expert_intermediate: int = 0
    shared_experts: int = 0
    active_experts: int = 0
    dense_layers: int = 0
    latent: int = 0
    query_latent: int = 0
    rope: int = 0
    value_size: int = 0
    tied: int = 0
    multimodal: bool = False

    @staticmethod
    def of(name: str, numbers: Mapping[str, int]) -> ModelCard:
        """The card with these numbers; what is not among them is not known."""
        said: dict[str, Any] = {number: numbers[number] for number in NUMBERS if number in numbers}
        return ModelCard(name, **said)


def read_model_config(path: str | Path) -> ModelCard:
    """The numbers of a model. Raises UnusableInput if the file cannot be read, says neither heads nor layers, or has no number where one stands."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise _unusable("PW001", f"the model's configuration `{path}` cannot be read: {why}") from None
    if len(text) > MAX_BYTES:
        raise _unusable("PW002", f"the model's configuration `{path}` is larger than {MAX_BYTES >> 20} MiB")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _unusable("PW003", f"the model's configuration `{path}` is not JSON") from None
    if isinstance(value, dict) and (wrong := _wrong(value)):
        raise _unusable("PW003", f"the model's configuration `{path}` says {wrong}, which is no number of 0 or more")
    card = card_of(str(path), value) if isinstance(value, dict) else ModelCard(str(path))
    if not card.heads and not card.layers:
        raise _unusable("PW003", f"`{path}` is not the configuration of a model: it says neither heads nor layers")
    return card


def card_of(name: str, config: Mapping[str, object]) -> ModelCard:
    """The card of a configuration; the numbers of its language model where it has several. What is not said is 0."""
    inner = next((config[key] for key in _TEXT if isinstance(config.get(key), dict)), None)
    found = {field: _number(inner, keys) or _number(config, keys) for field, keys in KEYS.items()}
    if not found["kv_heads"]:
        found["kv_heads"] = found["heads"]  # models without the key have a key-value head for each head
    if found["latent"]:  # `head_dim` is then that of the positions alone (transformers, models/deepseek_v3/configuration_deepseek_v3.py)
        found["head_size"] = found["rope"] + (_number(inner, _WITHOUT_POSITION) or _number(config, _WITHOUT_POSITION))
        found["latent"] += found["rope"]
    else:
        found |= {"query_latent": 0, "rope": 0, "value_size": 0}
    if not found["shared_experts"] and found["expert_intermediate"]:  # one of their width together, as Qwen2's have
        found["shared_experts"] = (_number(inner, _SHARED_WIDTH) or _number(config, _SHARED_WIDTH)) // found["expert_intermediate"]
    said = [each[_TIED] for each in (inner, config) if isinstance(each, dict) and isinstance(each.get(_TIED), bool)]
    found["tied"] = int(any(said) or not said)  # what is as usual is not written (transformers, configuration_utils.py: tied)
    return replace(ModelCard.of(name, found), multimodal=inner is not None or any(config.get(key) for key in _OTHER_PARTS))


def _wrong(config: Mapping[str, object]) -> str:
    """A number of the model that cannot be, such as `num_hidden_layers: -3`; "" if there is none. Lists, one number a layer, and -1 for none are not read."""
    own = (config, *(inner for key in _TEXT if isinstance(inner := config.get(key), dict)))
    said = ((key, each[key]) for each in own for keys in KEYS.values() for key in keys if key in each)
    return next(
        (
            f"`{key}: {str(value)[:40]}`"
            for key, value in said
            if isinstance(value, str) or (isinstance(value, (int, float)) and value < -1)
        ),
        "",
    )


def _number(config: object, keys: tuple[str, ...]) -> int:
    for key in keys if isinstance(config, dict) else ():
        value = config.get(key) if isinstance(config, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _unusable(code: str, message: str) -> UnusableInput:
    return UnusableInput([error(code, "", message, help="name the `config.json` of the model, as Hugging Face has it")])
