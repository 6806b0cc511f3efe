"""Layers of a model per pipeline stage, if the configuration states them."""

from __future__ import annotations

import re

from ..configuration.settings import Amount, Settings
from ..record import dataclass
from .use import Places, Split

FIRST, LAST = "num_layers_in_first_pipeline_stage", "num_layers_in_last_pipeline_stage"
EMBEDDING, LOSS = "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"
LAYOUT = "pipeline_model_parallel_layout"
KEYS = (FIRST, LAST, EMBEDDING, LOSS, LAYOUT)
"""Keys of Megatron's TransformerConfig that share layers out among stages."""
MOST = 100_000


@dataclass(frozen=True)
class PipelineStages:
    """Layers of the first and the last stage; `extra`: embedding and loss counted as layers."""

    first: Amount | None = None
    last: Amount | None = None
    extra: int = 0

    @property
    def is_given(self) -> bool:
        """True if the configuration states the layers of a stage."""
        return self.first is not None or self.last is not None

    def splits(self, stages: int, virtual: int, when: str) -> tuple[Split, ...]:
        """Return the divisors of the middle layers: middle stages, and virtual stages."""
        ends = [amount for amount in (self.first, self.last) if amount is not None]
        middle = stages - len(ends) if ends else stages
        less = sum(amount.value for amount in ends) - (0 if ends else self.extra)
        if middle == 0 and stages > 1:  # Megatron builds the layers of both ends alone, unchecked
            among, last = "the first and the last stage", ends[1]
            return (Split("layers", "pp", 1, key=last.name, span=last.span, proved=False, less=less, among=among, exact=True),)
        if middle < 1:
            return ()
        key, layers_of_end, span = "", 0, None
        if ends:
            key, layers_of_end = ends[0].name, ends[0].value
            span = ends[0].span if ends[0].scalar and ends[0].scalar.origin is None else None
        noun = f"{middle} middle stage{'s' * (middle > 1)}" if ends else f"{stages} stages"
        splits = [Split("layers", "pp", middle, False, key, span, when=when, less=less, among=noun, given=layers_of_end)]
        if virtual > 1:
            among = f"{virtual} virtual stages of each of {noun}"
            splits.append(
                Split("layers", "vpp", middle * virtual, False, key, span, when=when, less=less, among=among, given=layers_of_end)
            )
        return tuple(splits)


def layout_of(text: str) -> tuple[int, int] | None:
    """Return (stages, decoder layers) of a layout like ``Et*3|(tt|)*29,m|L``; else None."""
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


def stages_in(settings: Settings, config: str, rule: str) -> PipelineStages | int | None:
    """Return the layers per stage by Megatron's keys: None if even, a number for a layout."""
    if layout := settings.word(f"{config}.{LAYOUT}", rule):
        read = layout_of(layout)
        return read[1] if read else PipelineStages()
    first, last = (settings.whole(f"{config}.{end}", rule) if settings.has(f"{config}.{end}") else None for end in (FIRST, LAST))
    extra = sum(bool(settings.flag(f"{config}.{key}", rule)) for key in (EMBEDDING, LOSS))
    return PipelineStages(first, last, extra) if first or last or extra else None


def stage_splits(layers: PipelineStages | int | None, stages: int, virtual: int, when: str) -> tuple[Split, ...]:
    """Return the splits of layers among uneven stages; none if even."""
    if isinstance(layers, int):
        return (Split("layers", "pp", 1, when=when, less=layers, among=f"`{LAYOUT}`", exact=True),)
    return layers.splits(stages, virtual, when) if layers else ()


def places_of(**amounts: Amount | None) -> Places:
    """Return degree -> (key, place) of the known amounts; no place after an interpolation."""
    return {
        degree: (amount.name, amount.span if amount.scalar and amount.scalar.origin is None else None)
        for degree, amount in amounts.items()
        if amount is not None
    }
