"""How the numbers of a job come about: world sizes, replicas, data parallel ranks."""

from __future__ import annotations

from typing import Iterator

from ....component import Component
from ....derivation import Derivation, Figure
from ....findings.wording import with_noun
from ....pools.pool import Pool
from ..components.parallel import OWNERS, engine, is_served, owner_of, trained
from ..configuration import Configuration
from ..entries import Kind
from .setup import Setup


def derived(setup: Setup) -> Iterator[Derivation]:
    """The size of every pool, and what each component makes of it."""
    for pool in setup.pools:
        figures = _figures(setup.settings, pool)
        yield Derivation("", pool.name, pool.size, f"{pool.sizes} accelerators", figures)
        for component in setup.components:
            ranks = setup.world_size(component.name) if component.name in pool.components else None
            if ranks is not None:
                formula = f"{ranks} of the {with_noun(pool.size, 'accelerator')} of {pool.name}"
                yield Derivation(component.name, "world size", ranks, formula, figures)
                yield from _degrees(setup, component, ranks)


def _figures(settings: Configuration, pool: Pool) -> tuple[Figure, ...]:
    """The two keys that say how large a pool is."""
    keys = (pool.nodes_key, pool.accelerators_key)
    amounts = [settings.whole(key, "PW215") for key in keys if key and not key.startswith("--")]
    return tuple(amount.figure for amount in amounts if amount is not None)


def _degrees(setup: Setup, component: Component, ranks: int) -> Iterator[Derivation]:
    settings, entry, size, name = setup.settings, setup.entry, component.parallel.replica, component.name
    served = name == "reward_model" and is_served(settings, entry)
    if name == "rollout" or served:
        known = engine(settings, "reward_model.rollout" if served else owner_of(entry))
        if known is None:
            return
        figures = tuple(amount.figure for amount in known[1].values() if amount.span or amount.default)  # some have not all of them
        yield Derivation(
            name, "replica size", size, f"tp {component.parallel.tp} x dp {component.parallel.dp} x pp {component.parallel.pp}", figures
        )
        yield Derivation(name, "replicas", ranks // size, f"{ranks} // {size}", figures)
        return
    if name not in OWNERS or name == "reward_model" or entry.kind in (Kind.TUNING, Kind.PROCESSES):
        return
    known = trained(settings, OWNERS[name], setup.section(name))
    if known is None:
        return
    figures = tuple(amount.figure for amount in known[1].values())
    if size > 1:
        yield Derivation(name, "data parallel size", ranks // size, f"{ranks} // tp x pp x cp = {size}", figures)
        return
    parts = settings.whole(f"{OWNERS[name]}.ulysses_sequence_parallel_size", "PW208", 1)
    if parts is not None:
        formula = f"{ranks} // {parts.value} sequence parallel" if parts.value > 1 else str(ranks)
        yield Derivation(name, "data parallel size", ranks // parts.value, formula, (parts.figure,))
