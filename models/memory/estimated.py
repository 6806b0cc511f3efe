"""Memory that a component needs on each of its accelerators, estimated."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..component import Component
from ..estimate import FULL, NONE, Estimate
from ..job import Job
from ..model_cards.card import NUMBERS, ModelCard
from ..model_cards.use import DEGREES, ESTIMATE, ModelUse, Split, engine_splits, megatron_splits
from ..parallel import Parallel
from ..roles import ROLLOUT, role_of
from .shape import Shape, shape_of
from .terms import Estimated, activations, cache, gathered, states
from .work import Work, as_run, optimizer_of

SLACK = 10
"""Percent of each accelerator that no estimate fills: for what is not estimated. That is the context of CUDA, buffers of communication and of
graphs, fragments that the allocator cannot use, and what an engine needs for a step."""


def estimated(
    component: Component, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None = None
) -> Estimated | None:
    """What is known of a component's need with these degrees on so many accelerators; None where nothing can be said.

    Parameters
    ----------
    card : what is known of its model, besides what its estimate says.
    accelerators : of all its replicas together.
    capacity : MiB of an accelerator, where that is known: engines take a part of it.
    """
    if component.estimate is None:
        return None
    estimate, optimizer = component.estimate, optimizer_of(component)
    serves = optimizer == NONE and (role_of(component) == ROLLOUT or bool(estimate.sequences or estimate.utilization))
    size = capacity if estimate.utilization else None
    return _estimated(estimate, card, parallel, accelerators, size, optimizer, serves, "recompute" in estimate.written)


def with_slack(mebibytes: int) -> int:
    """What must be there for an estimate of so many MiB, so that `SLACK` percent are left."""
    return -(-mebibytes * 100 // (100 - SLACK))


@lru_cache(maxsize=65_536)
def _estimated(
    estimate: Estimate, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None, optimizer: str, serves: bool,
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
def _shape(estimate: Estimate, card: ModelCard | None) -> Shape:
    return shape_of(estimate, card)


def _missing(work: Work) -> list[str]:
    """What nobody says, and is not counted."""
    what, shape = "the cache" if work.serves else "activations", work.shape
    found = ["parts of the model for images or sound: nobody says `parameters`"] if shape.partial and not shape.said else []
    if work.estimate.lora_rank and not work.estimate.trainable and work.optimizer != NONE and not shape.adapters(1):
        found.append("adapters: the layers and the width of the model are not known")
    if not work.estimate.sequence:
        found.append(f"{what}: nobody says `sequence`")
    elif not (shape.layers and shape.hidden and (shape.cached or not work.serves)):
        found.append(f"{what}: the layers and the width of the model are not known")
    return found


def _assumed(work: Work, card: ModelCard | None, says_recompute: bool) -> list[str]:
    """What is taken for granted."""
    found = [f"the model is taken for `{card.name}`, by the last part of its path"] if card is not None and card.assumed else []
    if not work.shape.said:
        found.append(f"{work.shape.counted:,} parameters, counted from the shape of the model, with gated feed-forward parts")
    estimate, shape = work.estimate, work.shape
    if work.serves or not (estimate.sequence and shape.layers and shape.hidden):
        return found
    if work.optimizer != NONE and estimate.recompute == FULL and not says_recompute:
        found.append("layers are computed again in the backward pass (`recompute: full`)")
    if work.parallel.tp > 1:
        found.append("tp ranks divide all that is kept (sequence parallelism)")
    return found


def with_estimates(job: Job, divided: bool) -> Job:
    """The job with a model for each component that has an estimate, if its framework names none.

    `divided` : is it said here what of a model its degrees divide? A framework says that itself.
    """
    found = dict(job.models)
    for component in job.components:
        estimate = component.estimate
        if estimate is None:
            continue
        use = found.get(component.name)
        if use is None:
            found[component.name] = ModelUse(estimate.model, ESTIMATE, _splits(component) if divided else (), component.span(ESTIMATE))
        elif estimate.model and (use.key == ESTIMATE or not use.path):
            found[component.name] = replace(use, path=estimate.model)
    components = tuple(
        replace(each, estimate=as_run(each.estimate, found[each.name].run)) if each.estimate else each for each in job.components
    )
    return replace(job, models=found, components=components)


def with_degrees(job: Job) -> Job:
    """The job with a model, which nobody names yet, for each component without one that has, or may be given, degrees which divide one."""
    found = dict(job.models)
    for component in job.components:
        splits, its = _splits(component), job.choices.get(component.name, (component.parallel,))
        if component.name not in found and any(split.of(parallel) > 1 for parallel in its for split in splits):
            found[component.name] = ModelUse("", DEGREES, splits, component.span(DEGREES))
    return replace(job, models=found)


def told(component: Component, card: ModelCard | None) -> ModelCard | None:
    """What is known of a component's model: its card, with what its estimate says itself."""
    estimate = component.estimate
    said: dict[str, Any] = {name: value for name in NUMBERS if (value := getattr(estimate, name, 0))} if estimate else {}
    if not said:
        return card
    return replace(card, **said) if card else ModelCard.of(f"{component.name}.estimate", said)


def _splits(component: Component) -> tuple[Split, ...]:
    """What engines divide; for anything else what Megatron divides, where layers need not be even in other programs."""
    if optimizer_of(component) == NONE and role_of(component) == ROLLOUT:
        return engine_splits({})
    return tuple(replace(split, proved=False) if split.what == "layers" else split for split in megatron_splits({}))
