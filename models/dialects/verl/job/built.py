"""The components of a job, each with its degrees and the pool that it runs on, their ranks not told yet."""

from __future__ import annotations

from typing import Collection, Mapping

from .... import roles
from ....component import COLOCATED, Component, Parallel, Relation
from ....configuration.settings import Amount
from ....findings.span import Span
from ....pools.pool import Pool
from ..components.parallel import OWNERS, engine, is_served, owner_of, place_of, section_of, trained
from ..configuration import Configuration
from ..entries import Entry, Kind
from ..pools.declared import Declared
from .setup import Setup

REASON = "verl runs all roles of a pool in the same processes"
_ROLES = {
    "actor": roles.ACTOR, "rollout": roles.ROLLOUT, "ref": roles.REFERENCE, "critic": roles.CRITIC, "reward_model": roles.REWARD,
    "env": roles.ENVIRONMENT,
}  # fmt: skip


def components_of(settings: Configuration, entry: Entry, declared: Declared, sized: Collection[Pool]) -> tuple[Component, ...]:
    """Every component of the pools, in their order; without ranks. One whose degrees are not known is taken to have none.

    `sized` are the pools whose sizes are not left open.
    """
    if not declared.pools and entry.kind in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT):
        trained(settings, OWNERS["actor"], OWNERS["actor"])  # what is wrong with its degrees is said, though its size is not known
    return tuple(
        _component(
            settings, entry, pool, name, declared.size(name, pool), pool in sized, section_of(pool.components, declared.ranges, name)
        )
        if name in OWNERS
        else _component(settings, entry, pool, name, declared.size(name, pool), pool in sized)
        for pool in declared.pools
        for name in pool.components
    )


def _component(settings: Configuration, entry: Entry, pool: Pool, name: str, size: int, sized: bool, section: str = "") -> Component:
    parallel, amounts = _degrees(settings, entry, name, section) or (Parallel(), {})
    followed = name in OWNERS and section != OWNERS[name] and not (name == "reward_model" and is_served(settings, entry))
    if followed and sized and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # said of the role whose degrees these are
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    place = pool.span("size")
    if place:
        spans["name"] = spans["placement"] = spans["amount"] = place
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    role = roles.STUDENT if entry.kind in (Kind.TUNING, Kind.PROCESSES) and name == "actor" else _ROLES[name]
    strategy = settings.word(f"{OWNERS[name]}.strategy", "PW208") if name in OWNERS else ""
    backend = {"fsdp2": "fsdp"}.get(strategy or "", strategy or "")
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=pool.cpus, role=role, backend=backend)


def _degrees(settings: Configuration, entry: Entry, name: str, section: str) -> tuple[Parallel, Mapping[str, Amount]] | None:
    if name == "env" or entry.kind in (Kind.TUNING, Kind.PROCESSES):
        return None
    if name == "rollout":
        return engine(settings, owner_of(entry))
    if name == "reward_model" and is_served(settings, entry):
        return engine(settings, "reward_model.rollout")
    return trained(settings, OWNERS[name], section)


def relations_of(declared: Declared) -> list[Relation]:
    """The components of a pool, or of the same part of one, hold the same accelerators."""
    found = []
    for pool in declared.pools:
        first: dict[tuple[int, int] | None, str] = {}
        for name in pool.components:
            part = declared.ranges.get(name)
            if part in first:
                found.append(Relation(COLOCATED, (name, first[part]), pool.span("name"), REASON))
            first.setdefault(part, name)
    return found


def whole_replicas(setup: Setup) -> bool:
    """Do the accelerators of every component divide into whole replicas, each on one node or on whole nodes?"""
    return all(is_whole(setup, component) for component in setup.components)


def is_whole(setup: Setup, component: Component) -> bool:
    """Do those of one component? Not known, so no, where its pool has no size."""
    pool, ranks, size = setup.pool(component.name), setup.world_size(component.name), component.parallel.replica
    if pool is None or ranks is None or ranks % size:
        return False
    each = pool.parts[0].size
    return component.name != "rollout" or not (each % size and size % each)
