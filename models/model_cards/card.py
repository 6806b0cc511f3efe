"""Card of a model: numbers that degrees divide, from a config.json or a block."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

from ..findings.finding import Finding, UnusableInput, error, warning
from ..record import dataclass
from ..text.nearest import nearest

if TYPE_CHECKING:
    from ..text.tree import MapNode

SHAPE = (
    "heads", "kv_heads", "layers", "vocabulary", "experts", "parameters", "hidden", "head_size", "intermediate", "expert_intermediate",
    "shared_experts", "active_experts", "dense_layers", "latent", "query_latent", "rope", "value_size", "tied",
)  # fmt: skip
"""Numeric fields that decide the weights and the cache."""
NUMBERS = (*SHAPE, "positions")
"""Numeric fields."""
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
"""Field of a card -> keys in model families."""
_POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
_TIED, _WITHOUT_POSITION, _SHARED_WIDTH = "tie_word_embeddings", ("qk_nope_head_dim",), ("shared_expert_intermediate_size",)
_OTHER_PARTS = ("vision_config", "audio_config", "visual", "vision_tower", "mm_vision_tower")
"""Keys of model parts for images or sound."""
_EXPERTS = re.compile("expert|moe|mixtral|jamba|dbrx|grok", re.IGNORECASE)
"""Keys, and names of architectures whose number of experts has a default."""
_TEXT = ("text_config", "llm_config", "thinker_config")
"""Keys of the language model inside a multimodal model."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Numbers of a model; 0 if unknown.

    Attributes
    ----------
    name : id of the model, or the file of the numbers.
    heads : attention heads of a layer; `kv_heads` of them hold keys and values.
    layers : transformer layers.
    vocabulary : tokens, padded as in the checkpoint.
    experts : routed experts of a layer; 0 if unknown, or none of a `dense` model.
    parameters : all weights, each counted once.
    hidden : width of the model; `head_size` is that of a head, `intermediate` that of the
        feed-forward part of a layer.
    expert_intermediate : width of an expert; `shared_experts` of that width work on every token,
        and `active_experts` of the routed ones. The first `dense_layers` have no experts.
    latent : numbers that a layer caches per token instead of keys and values; `rope` of them are
        for positions. Then `head_size` is that of queries and keys, `value_size` that of values,
        and queries come from `query_latent` numbers, unless that is 0.
    tied : 1 if the embedding and the head are the same weights.
    positions : tokens of the longest sequence, with RoPE scaling; `unscaled_positions` without, 0 if
        equal. `has_rope_scaling` : True if the configuration states a scaling, of any factor.
    assumed : True if the model is inferred from the last part of a path.
    multimodal : True if the numbers are those of the language model, beside parts for images or
        sound.
    dense : True if the model is known to have no experts.
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
    positions: int = 0
    unscaled_positions: int = 0
    has_rope_scaling: bool = False
    multimodal: bool = False
    dense: bool = False

    @staticmethod
    def of(name: str, numbers: Mapping[str, int]) -> ModelCard:
        """Return the card with these numbers; the rest is unknown."""
        values: dict[str, Any] = {number: numbers[number] for number in NUMBERS if number in numbers}
        return ModelCard(name, **values)


def read_model_config(path: str | Path) -> ModelCard:
    """Return the numbers of a model's configuration. Raises UnusableInput if there are none."""
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
    if isinstance(value, dict) and (invalid := _find_invalid(value)):
        raise _unusable("PW003", f"the model's configuration `{path}` says {invalid}, which is not a number of 0 or more")
    card = card_of(str(path), value) if isinstance(value, dict) else ModelCard(str(path))
    if not card.heads and not card.layers:
        raise _unusable("PW003", f"`{path}` is not the configuration of a model: it says neither heads nor layers")
    if card.kv_heads and card.heads % card.kv_heads:
        raise _unusable("PW003", f"`{path}` says {card.heads} attention heads, which do not divide among {card.kv_heads} key-value heads")
    if card.experts and card.active_experts > card.experts:
        raise _unusable("PW003", f"`{path}` says that {card.active_experts} of {card.experts} experts work on each token")
    return card


def card_of(name: str, config: Mapping[str, object]) -> ModelCard:
    """Return the card of a configuration, or of its language model; missing numbers are 0."""
    inner = next((config[key] for key in _TEXT if isinstance(config.get(key), dict)), None)
    numbers = {field: _number(inner, keys) or _number(config, keys) for field, keys in KEYS.items()}
    if not numbers["kv_heads"]:
        numbers["kv_heads"] = numbers["heads"]  # without the key, one key-value head per head
    # With a latent, `head_dim` is that of the positions alone
    # (transformers, models/deepseek_v3/configuration_deepseek_v3.py).
    if numbers["latent"]:
        numbers["head_size"] = numbers["rope"] + (_number(inner, _WITHOUT_POSITION) or _number(config, _WITHOUT_POSITION))
        numbers["latent"] += numbers["rope"]
    else:
        numbers |= {"query_latent": 0, "rope": 0, "value_size": 0}
    # Qwen2 states the total width of shared experts.
    if not numbers["shared_experts"] and numbers["expert_intermediate"]:
        numbers["shared_experts"] = (_number(inner, _SHARED_WIDTH) or _number(config, _SHARED_WIDTH)) // numbers["expert_intermediate"]
    flags = [part[_TIED] for part in (inner, config) if isinstance(part, dict) and isinstance(part.get(_TIED), bool)]
    numbers["tied"] = int(any(flags) or not flags)  # default: tied (transformers, configuration_utils.py)
    is_multimodal = inner is not None or any(config.get(key) for key in _OTHER_PARTS)
    positions, unscaled_positions, scaling = _count_positions({**config, **inner} if isinstance(inner, dict) else config)
    return replace(
        ModelCard.of(name, {**numbers, "positions": positions}), multimodal=is_multimodal, dense=not _may_have_experts(config),
        unscaled_positions=unscaled_positions, has_rope_scaling=scaling,
    )  # fmt: skip


def _count_positions(config: Mapping[str, object]) -> tuple[int, int, bool]:
    """Return the positions with and, if different, without RoPE scaling, and if one is stated.

    Source: vLLM, vllm/config.py (_get_and_verify_max_len): the factors of `llama3` and `longrope` are
    part of the positions; `model_max_length` may raise them.
    """
    scaling = next((rope for key in ("rope_scaling", "rope_parameters") if isinstance(rope := config.get(key), dict)), {})
    kind, factor = scaling.get("rope_type", scaling.get("type", "")), scaling.get("factor", 1)
    written_positions = _number(config, _POSITIONS)
    positions = (_number(scaling, ("original_max_position_embeddings",)) or written_positions) if kind == "yarn" else written_positions
    if (
        kind not in ("su", "longrope", "llama3")
        and isinstance(factor, (int, float))
        and not isinstance(factor, bool)
        and 1 < factor <= 1_000_000
    ):
        positions = int(positions * factor)
    positions = max(positions, _number(config, ("model_max_length",))) if written_positions else 0
    return positions, written_positions if written_positions != positions else 0, "rope_scaling" in config and bool(scaling)


def _may_have_experts(config: object) -> bool:
    """Return True if a text, or a key with a value, names experts."""
    if isinstance(config, str):
        return _EXPERTS.search(config) is not None
    if isinstance(config, list):
        return any(map(_may_have_experts, config))
    entries = config.items() if isinstance(config, dict) else ()
    return any((_EXPERTS.search(key) and value) or _may_have_experts(value) for key, value in entries)


def _find_invalid(config: Mapping[str, object]) -> str:
    """Return an invalid number like `num_hidden_layers: -3`; else "". Lists are not read."""
    configs = (config, *(inner for key in _TEXT if isinstance(inner := config.get(key), dict)))
    entries = ((key, part[key]) for part in configs for keys in KEYS.values() for key in keys if key in part)
    return next(
        (
            f"`{key}: {str(value)[:40]}`"
            for key, value in entries
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


MODEL = "model"
PLACE = f"placewright.{MODEL}"


def model_of_block(root: MapNode, findings: list[Finding]) -> ModelCard | None:
    """Return the model that a file describes, or None; `findings` gets every fault."""
    from ..text.tree import MapNode, Scalar, find, kind_of

    block = find(root, PLACE)
    if block is None:
        return None
    if not isinstance(block, MapNode):
        message = f"`{PLACE}` must be a map, but it is {kind_of(block)}"
        findings.append(error("PW105", "", message, block.span, label=kind_of(block), help="write `{heads: 28, kv_heads: 4, layers: 28}`"))
        return None
    numbers: dict[str, int] = {}
    for entry in block:
        name, value = entry.key.text, entry.value
        number = value.value if isinstance(value, Scalar) else None
        if name not in NUMBERS:
            similar = nearest(name, NUMBERS)
            advice = f"write `{similar}`" if similar else f"keys are {', '.join(f'`{key}`' for key in NUMBERS)}"
            findings.append(warning("PW104", "", f"`{PLACE}` has no key `{name}`", entry.key.span, label="not known", help=advice))
        elif not isinstance(number, int) or isinstance(number, bool) or number < 1:
            message = f"`{PLACE}.{name}` must be a whole number of at least 1, but it is {kind_of(value) if number is None else number}"
            findings.append(error("PW105", "", message, value.span, help="write a number such as `28`"))
        else:
            numbers[name] = number
    return ModelCard.of(PLACE, numbers) if numbers else None
