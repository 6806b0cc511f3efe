"""The numbers of a model that parallel ranks divide among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping


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
    assumed : the model is only taken for this one, by the last part of its path.
    """

    name: str
    heads: int = 0
    kv_heads: int = 0
    layers: int = 0
    vocabulary: int = 0
    experts: int = 0
    assumed: bool = False
    parameters: int = 0

    @staticmethod
    def of(name: str, numbers: Mapping[str, int]) -> ModelCard:
        """The card with these numbers; what is not among them is not known."""
        heads, kv_heads, layers, vocabulary, experts, parameters = (numbers.get(number, 0) for number in NUMBERS)
        return ModelCard(name, heads, kv_heads, layers, vocabulary, experts, parameters=parameters)


NUMBERS = ("heads", "kv_heads", "layers", "vocabulary", "experts", "parameters")
"""The fields that are numbers."""
