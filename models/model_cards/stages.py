"""Layers of a model in pipeline stages, where the configuration says them."""

from __future__ import annotations

import re

from ..configuration.settings import Amount
from ..record import dataclass
from .use import Places, Split

FIRST, LAST = "num_layers_in_first_pipeline_stage", "num_layers_in_last_pipeline_stage"
EMBEDDING, LOSS = "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"
LAYOUT = "pipeline_model_parallel_layout"
KEYS = (FIRST, LAST, EMBEDDING, LOSS, LAYOUT)
"""Keys of Megatron's TransformerConfig that share layers out among stages."""
MOST = 100_000


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


def places_of(**amounts: Amount | None) -> Places:
    """Degree -> its key and place, of those that are known; a value that came through an interpolation has no place of its own."""
    return {
        degree: (amount.name, amount.span if amount.scalar and amount.scalar.origin is None else None)
        for degree, amount in amounts.items()
        if amount is not None
    }
