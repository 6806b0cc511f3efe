"""The models of components whose framework names none: of those that say what their memory is estimated from, or have degrees that divide one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..component import Component
from ..estimate import NONE
from ..job import Job
from ..model_cards.card import NUMBERS, ModelCard
from ..model_cards.use import DEGREES, ESTIMATE, ModelUse, Split, engine_splits, megatron_splits
from ..roles import ROLLOUT, role_of
from .as_run import as_run
from .optimizer import optimizer_of


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
