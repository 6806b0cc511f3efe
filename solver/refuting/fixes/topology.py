"""Demands on the topology loosened: preferred instead of required, more domains to lie in, fewer to be spread over."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.component import Component
from ....models.demand import Demand
from ....models.findings.wording import plural
from ....models.locality import WHOLE, Keep, Spread
from ...wording import level_name
from ..conflict import LOOSENED, OTHER, Change
from .trial import Apply, Trial, best, with_component

MAX_DOMAINS = 64
"""So many domains are offered at most."""


def looser(trial: Trial, demand: Demand) -> Iterator[Change]:
    """Weaker forms of a keep or a spread with which it is possible."""
    if demand.field.split()[0] not in ("keep", "spread"):
        return
    component = trial.problem[demand.component]
    for keep in component.keep:
        if demand.field == f"keep {keep.what} in {keep.level}" and keep.required:
            yield from _looser_keep(trial, component, keep)
    for spread in component.spread:
        if demand.field == f"spread over {spread.level}":
            yield from _looser_spread(trial, component, spread)


def _looser_keep(trial: Trial, component: Component, keep: Keep) -> Iterator[Change]:
    name = level_name(keep.level)
    if keep.what == WHOLE:
        # More domains are tried first: the fewest that do.
        tried = range(MAX_DOMAINS, keep.domains, -1)
        found = best(len(tried), lambda index: trial.works(_kept(component, keep, replace(keep, domains=tried[index]))))
        if found >= 0:
            domains = tried[found]
            text = f"keep {component.name} in {domains} {plural(name, domains)} instead of {keep.domains}"
            yield Change(text, (LOOSENED, 1 - keep.domains / domains), _kept(component, keep, replace(keep, domains=domains)))
    preferred = _kept(component, keep, replace(keep, required=False))
    if trial.works(preferred):
        yield Change(f"make `keep: {{{keep.what}: {keep.level}}}` of {component.name} `required: false`", (OTHER, 1.0), preferred)


def _looser_spread(trial: Trial, component: Component, spread: Spread) -> Iterator[Change]:
    name = level_name(spread.level)
    if spread.percent < 100:
        tried = range(100, spread.percent, -1)
        found = best(len(tried), lambda index: trial.works(_spread(component, spread, replace(spread, percent=tried[index]))))
        if found >= 0:
            percent = tried[found]
            text = f"let one {name} hold {percent} % of {component.name} instead of {spread.percent} %"
            yield Change(text, (LOOSENED, 1 - spread.percent / percent), _spread(component, spread, replace(spread, percent=percent)))
    if spread.domains > 1:
        found = best(spread.domains - 1, lambda index: trial.works(_spread(component, spread, replace(spread, domains=index + 1))))
        if found >= 0:
            text = f"spread {component.name} over {found + 1} {plural(name, found + 1)} instead of {spread.domains}"
            share = 1 - (found + 1) / spread.domains
            yield Change(text, (LOOSENED, share), _spread(component, spread, replace(spread, domains=found + 1)))


def _kept(component: Component, before: Keep, after: Keep) -> Apply:
    return with_component(component.name, lambda its: replace(its, keep=tuple(after if each == before else each for each in its.keep)))


def _spread(component: Component, before: Spread, after: Spread) -> Apply:
    return with_component(component.name, lambda its: replace(its, spread=tuple(after if each == before else each for each in its.spread)))
