"""Key `estimate` of a component: input of the memory estimate."""

from __future__ import annotations

import re
from math import lcm
from typing import Sequence

from ..component import Component, Parallel
from ..counts import write_counts
from ..estimate import BITS, FULL, MEGATRON, NONE, OPTIMIZERS, RECOMPUTED, SHARDINGS, TRAINABLE, MemoryInput
from ..findings.wording import with_noun
from ..memory.work import fitting, not_whole, optimizer_of, whole_groups
from ..text.form import Form, ValueKind, key, shown_value
from ..text.values import Boolean, Count, OneOfValues, Percent, Word

MOST = 10**14
"""Maximum number of parameters: a hundred times what the largest models have."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_PATTERN = r"^\s*[0-9]{1,15}(\.[0-9]{1,6})?\s*[KkMmBbTt]?\s*$"
_TEXT = re.compile(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMBT]?)\s*", re.IGNORECASE | re.ASCII)


def _parameters(value: object) -> int:
    """Return the number in `7B`, `494M` or a plain number.

    Raises ValueError with a sentence for a person.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown_value(value)} is no number of parameters")
    from decimal import Decimal, InvalidOperation

    match = _TEXT.fullmatch(str(value))
    try:
        count = int(Decimal(match[1]) * _UNITS[match[2].upper()]) if match else 0
    except InvalidOperation:
        count = 0
    if not 1 <= count <= MOST:
        raise ValueError(f"{shown_value(value)} is no number of parameters such as `7B`")
    return count


Parameters = ValueKind(_parameters, {"anyOf": [{"type": "number", "minimum": 1, "maximum": MOST}, {"type": "string", "pattern": _PATTERN}]})
"""Number of parameters like ``7B``."""


def _part(value: object) -> int:
    """Return percent of a share, 0.6 as in engines, or of a whole number.

    A share is at most 1.0. Raises ValueError.
    """
    return max(1, round(100 * value)) if isinstance(value, float) and 0 < value <= 1 else Percent.read(value)


Part = ValueKind(_part, {"anyOf": [*Percent.schema["anyOf"], {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}]})
"""Percent: a whole number like ``60``, or a share, ``0.6``; ``1.0`` is all."""


def _one_of(words: tuple[str, ...]) -> str:
    return "one of " + ", ".join(f"`{word}`" for word in words)


class EstimateForm(Form):
    """Input of the memory estimate; numbers of a known model may be omitted."""

    model = key(Word, default="", title="the model, where its numbers are known", description="an id such as `Qwen/Qwen2.5-7B-Instruct`")
    parameters = key(Parameters, default=None, title="all weights of the model", description="a number such as `7B`")
    trainable = key(Parameters, default=None, title="how many weights are trained, where not all are", description="a number such as `40M`")
    lora_rank = key(
        Count, default=None, title="the rank of adapters, where these alone are trained", description="a whole number such as `32`"
    )
    precision = key(
        OneOfValues("precision", tuple(BITS)), default="bf16", title="of the weights while they work", description=_one_of(tuple(BITS))
    )
    optimizer = key(
        OneOfValues("optimizer", tuple(OPTIMIZERS)),
        default=None,
        title="`adam` for what is trained by its role, else none",
        description=_one_of(tuple(OPTIMIZERS)),
    )
    sharding = key(
        OneOfValues("sharding", SHARDINGS), default=NONE, title="what data parallel ranks divide", description=_one_of(SHARDINGS)
    )
    shards = key(
        Count, default=None, title="how many ranks divide, where not all do (hybrid sharding)", description="a whole number such as `8`"
    )
    sequence = key(Count, default=None, title="tokens of one sequence, prompt and answer", description="a whole number such as `8192`")
    micro_batch = key(
        Count, default=1, title="sequences that one data parallel rank works on at a time", description="a whole number such as `1`"
    )
    recompute = key(
        OneOfValues("recomputation", RECOMPUTED),
        default=FULL,
        title="what is computed again in the backward pass",
        description=_one_of(RECOMPUTED),
    )
    attention_scores = key(
        Boolean, default=False, title="scores of attention are stored, as without flash attention", description="`true` or `false`"
    )
    sequences = key(
        Count,
        default=None,
        title="sequences that a replica of an engine caches at the same time",
        description="a whole number such as `64`",
    )
    cache = key(
        OneOfValues("precision", ("bf16", "fp16", "fp8")), default=None, title="the precision of the cache", description="such as `fp8`"
    )
    utilization = key(
        Part,
        default=None,
        title="percent of each accelerator that an engine takes for itself",
        description="a whole number such as `60`, or a part such as `0.6`",
    )
    offload = key(Boolean, default=False, title="it leaves its accelerators while another phase runs", description="`true` or `false`")
    layers = key(Count, default=None, description="a whole number such as `28`")
    hidden = key(Count, default=None, title="the width of the model", description="a whole number such as `3584`")
    heads = key(Count, default=None, title="attention heads of a layer", description="a whole number such as `28`")
    kv_heads = key(Count, default=None, title="heads of keys and values", description="a whole number such as `4`")
    head_size = key(Count, default=None, description="a whole number such as `128`")
    intermediate = key(Count, default=None, title="the width of the feed-forward part", description="a whole number such as `18944`")
    vocabulary = key(Count, default=None, description="a whole number such as `152064`")
    experts = key(Count, default=None, title="routed experts of a layer", description="a whole number such as `128`")
    expert_intermediate = key(Count, default=None, title="the width of one expert", description="a whole number such as `768`")

    def estimate(self) -> MemoryInput:
        """Return the estimate that the form states."""
        values = {
            name: value for name in MemoryInput.__dataclass_fields__ if name != "written" and (value := getattr(self, name)) is not None
        }
        return MemoryInput(**values, written=tuple(name for name in values if name in self.written_keys))


def unlikely(component: Component, choices: Sequence[Parallel]) -> tuple[str, str, str] | None:
    """Return (message, key, help) of an impossible estimate; None if possible.

    `choices` are the possible degrees of the component.
    """
    estimate = component.estimate
    if estimate is None:
        return None
    if estimate.parameters and estimate.trainable > estimate.parameters:
        message = f"`{component.name}` trains {estimate.trainable:,} of {estimate.parameters:,} parameters"
        return message, "trainable", "write fewer, or leave it out where all are trained"
    if estimate.shards and "sharding" in estimate.written and estimate.sharding in (NONE, MEGATRON):
        message = f"`{component.name}` divides nothing among {with_noun(estimate.shards, 'rank')} with `sharding: {estimate.sharding}`"
        return message, "shards", "leave it out, or write a `sharding` that divides"
    # solver/rules/amounts/whole_shard_groups.py checks given ranks.
    divided = estimate.divided_among if component.runs is None else 0
    if divided and not any(_has_whole_groups(component, divided, parallel) for parallel in choices):
        shards, ranks = estimate.shards, component.least // (choices[0].tp * choices[0].pp)
        if component.least == component.most and len(choices) == 1:
            return not_whole(component.name, ranks, shards), "shards", fitting(ranks, shards)
        counts = write_counts(component.counts or ((component.least, component.most),))
        message = f"with none of {counts} accelerators the ranks of `{component.name}` divide into groups of {shards} shards"
        return message, "shards", "write a number that divides the ranks of one of these counts, or widen the range"
    if optimizer_of(component) != NONE and estimate.precision not in TRAINABLE and not (estimate.trainable or estimate.lora_rank):
        message = f"`{component.name}` trains all its weights in `{estimate.precision}`, which nobody does"
        return message, "precision", f"write {_one_of(TRAINABLE)}, or `trainable: 40M` where adapters are trained"
    return None


def _has_whole_groups(component: Component, shards: int, parallel: Parallel) -> bool:
    """Return True if some allowed count has ranks in whole groups of shards."""
    step = lcm(component.per_process, parallel.replica)
    counts = range(-(-component.least // step) * step, component.most + 1, step)
    return not counts or any(whole_groups(shards, count, parallel) for count in counts if component.may_have(count))
