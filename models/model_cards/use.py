"""Use of a model by a component, and layers in pipeline stages.

Source: Megatron-LM, megatron/core/transformer/transformer_config.py (TransformerConfig.__post_init__) and pipeline_parallel_layer_layout.py.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Mapping

from ..configuration.settings import Amount
from ..estimate import Estimate
from ..findings.span import Span
from ..parallel import Parallel
from ..record import dataclass
from .card import ModelCard

FIRST, LAST = "num_layers_in_first_pipeline_stage", "num_layers_in_last_pipeline_stage"
EMBEDDING, LOSS = "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"
LAYOUT = "pipeline_model_parallel_layout"
KEYS = (FIRST, LAST, EMBEDDING, LOSS, LAYOUT)
"""Keys of Megatron's TransformerConfig that share layers out among stages."""
MOST = 100_000
WORDS = {
    "heads": "attention heads", "kv_heads": "key-value heads", "layers": "layers", "vocabulary": "tokens of the vocabulary",
    "experts": "experts",
}  # fmt: skip
"""Field of a card -> what it counts."""
ESTIMATE = "estimate"
"""The key of a model that only the estimate of a component's memory speaks of."""
DEGREES = "parallel"
"""The key of a model that nothing speaks of but degrees of a component that divide one."""
Places = Mapping[str, tuple[str, "Span | None"]]
"""Degree -> (its key, the place of its value)."""


def places_of(**amounts: Amount | None) -> Places:
    """Degree -> its key and place, of those that are known; a value that came through an interpolation has no place of its own."""
    return {
        degree: (amount.name, amount.span if amount.scalar and amount.scalar.origin is None else None)
        for degree, amount in amounts.items()
        if amount is not None
    }


@dataclass(frozen=True)
class Stages:
    """Layers of the first and the last stage; embedding and loss where they count as layers."""

    first: Amount | None = None
    last: Amount | None = None
    extra: int = 0

    @property
    def is_given(self) -> bool:
        """True if stages have layers of their own number."""
        return self.first is not None or self.last is not None

    def splits(self, stages: int, virtual: int, when: str) -> tuple[Split, ...]:
        """What the layers in the middle divide by: the other stages, and each stage by its virtual ones."""
        ends = [amount for amount in (self.first, self.last) if amount is not None]
        middle = stages - len(ends) if ends else stages
        less = sum(amount.value for amount in ends) - (0 if ends else self.extra)
        if middle == 0 and stages > 1:  # Megatron counts no layers here, and builds those of both ends alone
            among, last = "the first and the last stage", ends[1]
            return (Split("layers", "pp", 1, key=last.name, span=last.span, proved=False, less=less, among=among, exact=True),)
        if middle < 1:
            return ()
        key, given, span = "", 0, None
        if ends:
            key, given = ends[0].name, ends[0].value
            span = ends[0].span if ends[0].scalar and ends[0].scalar.origin is None else None
        noun = f"{middle} middle stage{'s' * (middle > 1)}" if ends else f"{stages} stages"
        found = [Split("layers", "pp", middle, False, key, span, when=when, less=less, among=noun, given=given)]
        if virtual > 1:
            among = f"{virtual} virtual stages of each of {noun}"
            found.append(Split("layers", "vpp", middle * virtual, False, key, span, when=when, less=less, among=among, given=given))
        return tuple(found)


def layout_of(text: str) -> tuple[int, int] | None:
    """(stages, decoder layers) of a layout such as ``Et*3|(tt|)*29,m|L``; None where it cannot be read."""
    text, group = text.replace(",", "").replace(" ", "").strip("'\""), re.compile(r"\(([^()]*)\)\*(\d{1,4})|([A-Za-z])\*(\d{1,4})")
    for _ in range(64):
        match = group.search(text)
        if match is None:
            break
        part, times = (match[1], match[2]) if match[2] else (match[3], match[4])
        text = text[: match.start()] + part * int(times) + text[match.end() :]
        if len(text) > MOST:
            return None
    if re.fullmatch(r"[EtmL|]+", text) is None:
        return None
    return text.count("|") + 1, text.count("t")


@dataclass(frozen=True, slots=True)
class Split:
    """One number of the model divides by one degree.

    Attributes
    ----------
    what : the field of the card.
    degree : the degree, as people write it: ``tp``, ``pp``, ``sp``, ``vpp``, ``ep``.
    size : what it is; None where it is the field of the component's Parallel that has the name of the degree.
    either_way : it may also be a multiple of the number, whose parts are then repeated.
    key : where the degree is written, such as ``actor_rollout_ref.rollout.tensor_model_parallel_size``; "" if that is not known.
    span : the place of its value, if it can be changed there.
    within : a degree that the number is divided by first, such as the pipeline stages that layers lie in.
    proved : does what runs the model refuse anything else?
    when : when it would be noticed; "" if nothing is to be said.
    at_least : the key and the value of another degree that this one must not be below; ("", 1) if there is none.
    less : how much of the number is shared out otherwise, such as layers of the first and the last stage; negative where more counts.
    among : what the rest is divided among, such as ``6 middle stages``; "" for ranks of the degree.
    given : the part of `less` that `key` says, which is to be changed.
    exact : `less` is all that there may be, and nothing is left to divide.
    """

    what: str
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

    def of(self, parallel: Parallel) -> int:
        """The degree of a component with these degrees."""
        return int(getattr(parallel, self.degree)) if self.size is None else self.size

    def fits(self, amount: int, degree: int) -> bool:
        """Does so much of the model divide by the degree? What does not divide by `within` is said of that degree itself."""
        if self.exact or self.less > amount:
            return amount == self.less
        amount -= self.less
        if amount % self.within:
            return True
        part = amount // self.within
        return part % degree == 0 or (self.either_way and degree % part == 0)


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The model of one component.

    `path` is what the configuration says, `key` where; `card` is what is known of it, None if nothing is. `run` is how the framework
    runs it, where an estimate of memory asks for that. `passed` is the model that the user names where it is not this component's.
    """

    path: str
    key: str
    splits: tuple[Split, ...]
    span: Span | None = field(default=None, compare=False)
    card: ModelCard | None = None
    run: Estimate | None = field(default=None, compare=False)
    passed: str = field(default="", compare=False)


def engine_splits(places: Places, when: str = "") -> tuple[Split, ...]:
    """What an inference engine divides by tp: attention heads exactly; key-value heads, or it repeats them.

    Source: vLLM, vllm/config (verify_with_parallel_config) and vllm/model_executor/layers/linear.py (QKVParallelLinear).
    """
    return _heads("tp", None, places, when)


def ulysses_splits(size: int, places: Places, when: str = "") -> tuple[Split, ...]:
    """What sequence parallel ranks divide; `places` names the degree ``sp``.

    Source: verl, verl/models/transformers/monkey_patch.py; ROLL, roll/distributed/strategy/fsdp2_strategy.py.
    """
    return _heads("sp", size, places, when)


def megatron_splits(places: Places, stages: int = 1, virtual: int = 1, even_layers: bool = True, when: str = "") -> tuple[Split, ...]:
    """What Megatron divides: heads by tp, layers by pp and then by virtual stages, experts by ep.

    `even_layers` is False where the configuration says itself which layers lie in which stage.
    Source: Megatron-LM, megatron/core/transformer/transformer_config.py (TransformerConfig.__post_init__).
    """
    found = list(_heads("tp", None, places, when))
    if even_layers:
        found.append(Split("layers", "pp", None, False, *_place("pp", places), when=when))
        if virtual > 1:
            found.append(Split("layers", "vpp", virtual, False, *_place("vpp", places), within=stages, when=when))
    found.append(Split("experts", "ep", None, False, *_place("ep", places), when=when))
    return tuple(found)


def vocabulary_split(places: Places, when: str = "") -> Split:
    """What Megatron's embedding divides by tp, where it is made as large as the checkpoint has it and no padding is added.

    Source: Megatron-LM, megatron/core/tensor_parallel/layers.py (VocabParallelEmbedding) and utils.py (VocabUtility).
    """
    return Split("vocabulary", "tp", None, False, *_place("tp", places), when=when)


def with_sizes(splits: tuple[Split, ...], written: Parallel, own: Parallel) -> tuple[Split, ...]:
    """The same, with the degrees that are written: where a component's own are others, as those of one that could not be shaped."""
    return tuple(split if split.of(written) == split.of(own) else replace(split, size=split.of(written)) for split in splits)


def _heads(degree: str, size: int | None, places: Places, when: str) -> tuple[Split, ...]:
    place = _place(degree, places)
    return Split("heads", degree, size, False, *place, when=when), Split("kv_heads", degree, size, True, *place, when=when)


def _place(degree: str, places: Places) -> tuple[str, Span | None]:
    return places.get(degree, ("", None))
