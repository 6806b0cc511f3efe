"""The components of a job, each with its degrees and the pool that it runs on, their ranks not told yet."""

from __future__ import annotations

from typing import Mapping

from .... import roles
from ....component import COLOCATED, Component, Parallel, Relation
from ....configuration.settings import Amount
from ....pool import Pool
from ....span import Span
from ..configuration import Configuration
from ..entries import Entry, Kind
from ..setup import Setup
from .parallel import engine, owner_of, place_of, trained

REASON = "verl runs all roles of a pool in the same processes"
_ROLES = {
    "actor": roles.ACTOR, "rollout": roles.ROLLOUT, "ref": roles.REFERENCE, "critic": roles.CRITIC, "reward_model": roles.REWARD,
    "env": roles.ENVIRONMENT,
}  # fmt: skip
_OWNERS = {"actor": "actor_rollout_ref.actor", "ref": "actor_rollout_ref.ref", "critic": "critic", "reward_model": "reward_model"}


def components_of(settings: Configuration, entry: Entry, pools: tuple[Pool, ...]) -> tuple[Component, ...]:
    """Every component of the pools, in their order; without ranks. One whose degrees are not known is taken to have none."""
    return tuple(_component(settings, entry, pool, name) for pool in pools for name in pool.components)


def _component(settings: Configuration, entry: Entry, pool: Pool, name: str) -> Component:
    parallel, amounts = _degrees(settings, entry, name) or (Parallel(), {})
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    place = pool.span("size")
    if place:
        spans["name"] = spans["placement"] = spans["amount"] = place
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    role = roles.STUDENT if entry.kind in (Kind.TUNING, Kind.PROCESSES) and name == "actor" else _ROLES[name]
    return Component(name, least=pool.size, most=pool.size, parallel=parallel, spans=spans, cpus=pool.cpus, role=role)


def _degrees(settings: Configuration, entry: Entry, name: str) -> tuple[Parallel, Mapping[str, Amount]] | None:
    if name == "env" or entry.kind in (Kind.TUNING, Kind.PROCESSES):
        return None
    if name == "rollout":
        return engine(settings, owner_of(entry))
    if name == "reward_model" and settings.flag("reward_model.use_reward_loop", "PW208"):
        return engine(settings, "reward_model.rollout")
    return trained(settings, _OWNERS[name])


def relations_of(pools: tuple[Pool, ...]) -> list[Relation]:
    """The components of a pool hold the same accelerators."""
    return [Relation(COLOCATED, (other, pool.components[0]), pool.span("name"), REASON) for pool in pools for other in pool.components[1:]]


def whole_replicas(setup: Setup) -> bool:
    """Do the accelerators of every component divide into whole replicas, each on one node or on whole nodes?"""
    for component in setup.components:
        pool, size = setup.pool(component.name), component.parallel.replica
        if pool is None or pool.size % size:
            return False
        each = pool.parts[0].size
        if component.name == "rollout" and each % size and size % each:
            return False
    return True
