"""Estimated memory of a component per accelerator."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..component import Component
from ..estimate import FULL, NONE, MemoryInput
from ..job import Job
from ..model_cards.card import NUMBERS, ModelCard
from ..model_cards.use import DEGREES, ESTIMATE, ModelUse, Split, engine_splits, megatron_splits
from ..parallel import Parallel
from ..roles import ROLLOUT, role_of
from .shape import ModelShape, shape_of
from .terms import Estimated, activations, cache, gathered, states
from .work import Work, as_run, optimizer_of

SLACK = 10
"""Percent of an accelerator kept free of estimates.

It is for what is not estimated: the context of CUDA, buffers of communication and of graphs,
fragments that the allocator cannot use, and what an engine needs for a step.
"""


def estimated(
    component: Component, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None = None
) -> Estimated | None:
    """Return the estimate for given degrees and accelerators; None without input.

    Parameters
    ----------
    card : known numbers of the model, besides the component's estimate.
    accelerators : accelerators of all replicas together.
    capacity : MiB of an accelerator, if known: engines take a part of it.
    """
    if component.estimate is None:
        return None
    estimate, optimizer = component.estimate, optimizer_of(component)
    serves = optimizer == NONE and (role_of(component) == ROLLOUT or bool(estimate.sequences or estimate.utilization))
    size = capacity if estimate.utilization else None
    return _estimated(estimate, card, parallel, accelerators, size, optimizer, serves, "recompute" in estimate.written)


def with_slack(mebibytes: int) -> int:
    """Return the MiB to reserve for an estimate, so that `SLACK` percent remain."""
    return -(-mebibytes * 100 // (100 - SLACK))


@lru_cache(maxsize=65_536)
def _estimated(
    estimate: MemoryInput, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None, optimizer: str, serves: bool,
    says_recompute: bool,
) -> Estimated | None:  # fmt: skip
    shape = _shape(estimate, card)
    if not shape.parameters:
        return None
    work = Work(shape, estimate, parallel, optimizer, serves, accelerators, capacity)
    terms = [*states(work), *gathered(work)]
    terms += cache(work, tuple(terms)) if serves else activations(work)
    return Estimated(tuple(terms), tuple(_missing(work)), tuple(_assumed(work, card, says_recompute)), estimate.offload)


@lru_cache(maxsize=1024)
def _shape(estimate: MemoryInput, card: ModelCard | None) -> ModelShape:
    return shape_of(estimate, card)


def _missing(work: Work) -> list[str]:
    """Return sentences on inputs that are unknown and not counted."""
    term, shape = "the cache" if work.serves else "activations", work.shape
    sentences = ["parts of the model for images or sound: nobody says `parameters`"] if shape.partial and not shape.stated else []
    if work.estimate.lora_rank and not work.estimate.trainable and work.optimizer != NONE and not shape.adapters(1):
        sentences.append("adapters: the layers and the width of the model are not known")
    if not work.estimate.sequence:
        sentences.append(f"{term}: nobody says `sequence`")
    elif not (shape.layers and shape.hidden and (shape.cached or not work.serves)):
        sentences.append(f"{term}: the layers and the width of the model are not known")
    return sentences


def _assumed(work: Work, card: ModelCard | None, says_recompute: bool) -> list[str]:
    """Return sentences on the assumptions of the estimate."""
    sentences = [f"the model is taken for `{card.name}`, by the last part of its path"] if card is not None and card.assumed else []
    if not work.shape.stated:
        sentences.append(f"{work.shape.counted:,} parameters, counted from the shape of the model, with gated feed-forward parts")
    estimate, shape = work.estimate, work.shape
    if work.serves or not (estimate.sequence and shape.layers and shape.hidden):
        return sentences
    if work.optimizer != NONE and estimate.recompute == FULL and not says_recompute:
        sentences.append("layers are computed again in the backward pass (`recompute: full`)")
    if work.parallel.tp > 1:
        sentences.append("tp ranks divide all that is kept (sequence parallelism)")
    return sentences


def with_estimates(job: Job, divided: bool) -> Job:
    """Return the job with a model for every component with an estimate.

    A framework's own model has priority. `divided`: True if the divisions of the model by degrees
    are stated here; a framework states them itself.
    """
    uses = dict(job.models)
    for component in job.components:
        estimate = component.estimate
        if estimate is None:
            continue
        use = uses.get(component.name)
        if use is None:
            uses[component.name] = ModelUse(estimate.model, ESTIMATE, _splits(component) if divided else (), component.span(ESTIMATE))
        elif estimate.model and (use.key == ESTIMATE or not use.path):
            uses[component.name] = replace(use, path=estimate.model)
    components = tuple(
        replace(component, estimate=as_run(component.estimate, uses[component.name].run)) if component.estimate else component
        for component in job.components
    )
    return replace(job, models=uses, components=components)


def with_degrees(job: Job) -> Job:
    """Return the job with unnamed models for components whose degrees could divide one."""
    uses = dict(job.models)
    for component in job.components:
        splits, degrees = _splits(component), job.choices.get(component.name, (component.parallel,))
        if component.name not in uses and any(split.of(parallel) > 1 for parallel in degrees for split in splits):
            uses[component.name] = ModelUse("", DEGREES, splits, component.span(DEGREES))
    return replace(job, models=uses)


def with_estimate_numbers(component: Component, card: ModelCard | None) -> ModelCard | None:
    """Return a component's model card, overridden by the estimate."""
    estimate = component.estimate
    numbers: dict[str, Any] = {name: value for name in NUMBERS if (value := getattr(estimate, name, 0))} if estimate else {}
    if not numbers:
        return card
    return replace(card, **numbers) if card else ModelCard.of(f"{component.name}.estimate", numbers)


def _splits(component: Component) -> tuple[Split, ...]:
    """Return the divisions of an engine, otherwise those of Megatron.

    Outside of Megatron, layers need not divide evenly, so that split is not proved.
    """
    if optimizer_of(component) == NONE and role_of(component) == ROLLOUT:
        return engine_splits({})
    return tuple(replace(split, proved=False) if split.card_field == "layers" else split for split in megatron_splits({}))
