"""Use of a model by a component: divisors of the model's numbers.

Source: Megatron-LM, megatron/core/transformer/transformer_config.py
(TransformerConfig.__post_init__) and pipeline_parallel_layer_layout.py.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Mapping

from ..estimate import MemoryInput
from ..findings.span import Span
from ..parallel import Parallel
from ..record import dataclass
from .card import ModelCard

WORDS = {
    "heads": "attention heads", "kv_heads": "key-value heads", "layers": "layers", "vocabulary": "tokens of the vocabulary",
    "experts": "experts",
}  # fmt: skip
"""Field of a card -> noun."""
ESTIMATE = "estimate"
"""Key of a model that only a memory estimate names."""
DEGREES = "parallel"
"""Key of a model that only degrees of a component imply."""
_OLDER = "Megatron-LM before core_v0.16.0 refuses this; images of this release have older and newer ones"
Places = Mapping[str, tuple[str, "Span | None"]]
"""Degree -> (key, place of the value)."""


@dataclass(frozen=True, slots=True)
class Split:
    """Number of the model that a degree must divide.

    Attributes
    ----------
    card_field : field of the card.
    degree : degree as people write it: ``tp``, ``pp``, ``sp``, ``vpp``, ``ep``.
    size : value of the degree; None to read the field of that name in the component's Parallel.
    either_way : the degree may also be a multiple of the number, whose parts are then repeated.
    key : key of the degree, such as ``actor_rollout_ref.rollout.tensor_model_parallel_size``; "" if
        unknown.
    span : place of the value, if it can be changed there.
    within : degree that divides the number first, such as the pipeline stages around virtual
        stages.
    proved : True if the program that runs the model refuses anything else.
    when : time when the framework notices; "" for no finding.
    at_least : key and value of another degree that is a lower bound; ("", 1) without a bound.
    less : part of the number that is shared out otherwise, such as layers of the first and the last
        stage; negative for additions.
    among : receivers of the rest, such as ``6 middle stages``; "" for ranks of the degree.
    given : part of `less` that `key` states and a fix would change.
    exact : True if the number must equal `less`, with nothing left to divide.
    refused : reason why a model with this number runs with no degree above 1; `key` then is the
        setting to turn on, at `span`.
    uneven : True if the degree need not divide the number, but there must be one.
    """

    card_field: str
    degree: str
    size: int | None = None
    either_way: bool = False
    key: str = ""
    span: Span | None = field(default=None, compare=False)
    within: int = 1
    proved: bool = True
    when: str = field(default="", compare=False)
    at_least: tuple[str, int] = field(default=("", 1), compare=False)
    less: int = 0
    among: str = ""
    given: int = 0
    exact: bool = False
    refused: str = ""
    uneven: bool = False

    def of(self, parallel: Parallel) -> int:
        """Return the degree of a component with the degrees `parallel`."""
        return int(getattr(parallel, self.degree)) if self.size is None else self.size

    def fits(self, amount: int, degree: int) -> bool:
        """Return True if the model's number divides by the degree, or not even by `within`."""
        if self.exact or self.less > amount:
            return amount == self.less
        amount -= self.less
        if amount % self.within:
            return True
        part = amount // self.within
        return part % degree == 0 or (self.either_way and degree % part == 0)

    def suits(self, card: ModelCard, degree: int) -> bool:
        """Return True if the degree divides the number of a model, or may do."""
        amount = getattr(card, self.card_field)
        if self.refused or (self.card_field == "experts" and card.dense and not amount):
            return degree == 1 or (bool(self.refused) and not amount)
        return not amount or self.uneven or self.fits(amount, degree)


@dataclass(frozen=True, slots=True)
class Length:
    """Tokens that the positions of a model must hold.

    Attributes
    ----------
    tokens : number of them, `remainder` of which are not those of the setting to change.
    text : subject of the message; `note` says how the number is made up.
    help : advice with `VALUE` for the largest value of the setting.
    when : what happens with more tokens.
    proved : True if the framework refuses more; `of_unscaled`: only without RoPE scaling.
    is_unscaled : True if RoPE scaling does not count.
    """

    tokens: int
    text: str
    help: str = ""
    span: Span | None = field(default=None, compare=False)
    note: str = ""
    when: str = field(default="", compare=False)
    remainder: int = 0
    proved: bool = False
    of_unscaled: bool = False
    is_unscaled: bool = False

    def positions(self, card: ModelCard) -> int:
        """Return the positions of a model that count; 0 if unknown."""
        return (card.unscaled_positions if self.is_unscaled else 0) or card.positions


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Model of a component.

    Attributes
    ----------
    path : text of the configuration; `key` is its key.
    card : known numbers; None if unknown.
    run : how the framework runs it, if a memory estimate needs that.
    lengths : tokens that the model must take.
    passed : model that the user names, if it is not this component's.
    """

    path: str
    key: str
    splits: tuple[Split, ...]
    span: Span | None = field(default=None, compare=False)
    card: ModelCard | None = None
    run: MemoryInput | None = field(default=None, compare=False)
    passed: str = field(default="", compare=False)
    lengths: tuple[Length, ...] = ()


def engine_splits(places: Places, when: str = "", wants_experts: bool | None = None) -> tuple[Split, ...]:
    """Return the splits of an inference engine by tp: heads, and key-value heads or copies.

    Attention heads must divide exactly. `wants_experts`: with ep the engine refuses a model without
    experts; False if only some of its versions do, None if none does. Source: vLLM, vllm/config
    (verify_with_parallel_config, _verify_with_expert_parallelism) and
    vllm/model_executor/layers/linear.py (QKVParallelLinear).
    """
    heads = _heads("tp", None, places, when)
    if wants_experts is None:
        return heads
    return (*heads, Split("experts", "ep", None, False, *_place("ep", places), proved=wants_experts, when=when, uneven=True))


def ulysses_splits(size: int, places: Places, when: str = "") -> tuple[Split, ...]:
    """Return the splits of sequence parallel ranks; `places` names the degree ``sp``.

    Source: verl, verl/models/transformers/monkey_patch.py; ROLL,
    roll/distributed/strategy/fsdp2_strategy.py.
    """
    return _heads("sp", size, places, when)


def megatron_splits(
    places: Places, stages: int = 1, virtual: int = 1, even_layers: bool = True, when: str = "", copies: bool | None = True
) -> tuple[Split, ...]:
    """Return the splits of Megatron: heads by tp, layers by pp and virtual stages, experts by ep.

    `even_layers` is False if the configuration assigns the layers to stages. `copies`: ranks may
    hold copies of key-value heads, as since core_v0.16.0; None if the version is not sure.
    Source: Megatron-LM, megatron/core/transformer/transformer_config.py
    (TransformerConfig.__post_init__).
    """
    heads, kv_heads = _heads("tp", None, places, when)
    if not copies:
        kv_heads = replace(kv_heads, either_way=False, proved=copies is False, when=_OLDER if copies is None else when)
    splits = [heads, kv_heads]
    if even_layers:
        splits.append(Split("layers", "pp", None, False, *_place("pp", places), when=when))
        if virtual > 1:
            splits.append(Split("layers", "vpp", virtual, False, *_place("vpp", places), within=stages, when=when))
    splits.append(Split("experts", "ep", None, False, *_place("ep", places), when=when))
    return tuple(splits)


def sequence_split(key: str, span: Span | None, when: str = "") -> Split:
    """Return the refusal of experts with tp but without sequence parallel activations.

    Source: Megatron-LM, megatron/core/transformer/moe/moe_layer.py (MoELayer.forward: in training,
    core_v0.11.0 to core_v0.19.0).
    """
    return Split("experts", "tp", None, key=key, span=span, when=when, refused="without sequence parallel activations")


def vocabulary_split(places: Places, when: str = "") -> Split:
    """Return the split of Megatron's embedding by tp, without padding of the vocabulary.

    The embedding is then as large as in the checkpoint. Source: Megatron-LM,
    megatron/core/tensor_parallel/layers.py (VocabParallelEmbedding) and utils.py (VocabUtility).
    """
    return Split("vocabulary", "tp", None, False, *_place("tp", places), when=when)


def with_sizes(splits: tuple[Split, ...], degrees: Parallel, degrees_of_component: Parallel) -> tuple[Split, ...]:
    """Return the splits with written degrees where the component's own degrees differ."""
    return tuple(
        split if split.of(degrees) == split.of(degrees_of_component) else replace(split, size=split.of(degrees)) for split in splits
    )


def _heads(degree: str, size: int | None, places: Places, when: str) -> tuple[Split, ...]:
    place = _place(degree, places)
    return Split("heads", degree, size, False, *place, when=when), Split("kv_heads", degree, size, True, *place, when=when)


def _place(degree: str, places: Places) -> tuple[str, Span | None]:
    return places.get(degree, ("", None))
