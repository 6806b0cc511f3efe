"""The numbers of a model that parallel ranks divide among themselves."""

from __future__ import annotations

from typing import Any, Mapping

from ..record import dataclass


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


NUMBERS = (
    "heads", "kv_heads", "layers", "vocabulary", "experts", "parameters", "hidden", "head_size", "intermediate", "expert_intermediate",
    "shared_experts", "active_experts", "dense_layers", "latent", "query_latent", "rope", "value_size", "tied",
)  # fmt: skip
"""The fields that are numbers."""
