"""Use of a model by a component: what of it is divided by which degree.

Source: Megatron-LM, megatron/core/transformer/transformer_config.py (TransformerConfig.__post_init__) and pipeline_parallel_layer_layout.py.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Mapping

from ..estimate import Estimate
from ..findings.span import Span
from ..parallel import Parallel
from ..record import dataclass
from .card import ModelCard

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
