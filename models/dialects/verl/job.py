"""A verl job while it is read: what is known of it, its components, and how its numbers come about."""

from __future__ import annotations

from dataclasses import field
from typing import Collection, Iterator, Mapping

from ... import roles
from ...component import COLOCATED, Component, Parallel, Relation
from ...configuration.notes import Notes
from ...configuration.settings import Amount
from ...derivation import Derivation, Figure
from ...findings.span import Span
from ...findings.wording import with_noun
from ...link import Link
from ...model_cards import ModelUse
from ...planning.followed import Followed
from ...planning.workload import Workload
from ...pools.laying import Laying
from ...pools.pool import Pool
from ...preference import Preference
from ...record import dataclass
from ...share import Share
from .components.parallel import OWNERS, place_of, section_of, trained
from .configuration import Configuration
from .entries import Entry, Kind
from .pools.declared import Declared
from .pools.served import APART, engine_of, is_engine, is_teacher
from .releases import sequence_key

REASON = "verl runs all roles of a pool in the same processes"
DEGREES, FIT = "PW208", "PW215"
_ROLES = {
    "actor": roles.ACTOR, "rollout": roles.ROLLOUT, APART: roles.ROLLOUT, "ref": roles.REFERENCE, "critic": roles.CRITIC,
    "reward_model": roles.REWARD, "env": roles.ENVIRONMENT,
}  # fmt: skip


@dataclass
class Setup:
    """The job; `work` adds relations, shares and derivations to it.

    `components` have their ranks where these are known. `parts` are the first and the last rank of those that run on a part of
    their pool. `choices` and what follows `links` are those of a Job.
    """

    notes: Notes
    settings: Configuration
    entry: Entry
    pools: tuple[Pool, ...]
    components: tuple[Component, ...]
    relations: list[Relation] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    workload: Workload | None = None
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    laying: Laying | None = None
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    sizes_not_read: int = 0
    by_size: frozenset[str] = frozenset()

    def component(self, name: str) -> Component | None:
        """Component of this name, if the job has one."""
        return next((each for each in self.components if each.name == name), None)

    def pool(self, component: str) -> Pool | None:
        """Pool that a component runs on, if its size is known."""
        return next((pool for pool in self.pools if component in pool.components), None)

    def section(self, name: str) -> str:
        """Key below which Megatron's degrees of a trained component stand, see components/parallel.py."""
        pool = self.pool(name)
        return section_of(pool.components if pool else (), self.parts, name)

    def world_size(self, component: str) -> int | None:
        """Number of processes: those of its pool, or of its part of one, whatever its hints say; None where that is unknown."""
        pool = self.pool(component)
        if pool is None or self.component(component) is None:
            return None
        first, last = self.parts.get(component, (0, pool.size - 1))
        return last - first + 1


def components_of(settings: Configuration, entry: Entry, declared: Declared, sized: Collection[Pool]) -> tuple[Component, ...]:
    """Every component of the pools, in their order; without ranks. One whose degrees are unknown is taken to have none.

    `sized` are the pools whose sizes are not left open.
    """
    if not declared.pools and entry.kind in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT):
        trained(settings, OWNERS["actor"], OWNERS["actor"])  # what is wrong with its degrees is said, though its size is unknown
    found = []
    for pool in declared.pools:
        for name in pool.components:
            section = section_of(pool.components, declared.ranges, name) if name in OWNERS else ""
            found.append(_component(settings, entry, pool, name, declared.size(name, pool), pool in sized, section))
    return tuple(found)


def _component(settings: Configuration, entry: Entry, pool: Pool, name: str, size: int, sized: bool, section: str) -> Component:
    parallel, amounts = _degrees(settings, entry, name, section) or (Parallel(), {})
    followed = name in OWNERS and section != OWNERS[name] and not is_engine(settings, entry, name)
    if followed and sized and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # said of the role whose degrees these are
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    place = pool.span("size")
    if place:
        spans["name"] = spans["placement"] = spans["amount"] = place
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    student = entry.kind in (Kind.TUNING, Kind.PROCESSES) and name == "actor"
    role = roles.STUDENT if student else roles.TEACHER if is_teacher(name) else _ROLES[name]
    strategy = settings.word(f"{OWNERS[name]}.strategy", "PW208") if name in OWNERS else ""
    backend = {"fsdp2": "fsdp"}.get(strategy or "", strategy or "")
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=pool.cpus, role=role, backend=backend)


def _degrees(settings: Configuration, entry: Entry, name: str, section: str) -> tuple[Parallel, Mapping[str, Amount]] | None:
    if name == "env" or entry.kind in (Kind.TUNING, Kind.PROCESSES):
        return None
    if is_engine(settings, entry, name):
        return engine_of(settings, entry, name)
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
    """True if the accelerators of every component divide into whole replicas, each on one node or on whole nodes."""
    return all(is_whole(setup, component) for component in setup.components)


def is_whole(setup: Setup, component: Component) -> bool:
    """The same of one component; False where its pool has no size."""
    pool, ranks, size = setup.pool(component.name), setup.world_size(component.name), component.parallel.replica
    if pool is None or ranks is None or ranks % size:
        return False
    each = pool.parts[0].size
    return component.name != "rollout" or not (each % size and size % each)


def derived(setup: Setup) -> Iterator[Derivation]:
    """Size of every pool, and what each component makes of it: world size, replicas, data parallel ranks."""
    for pool in setup.pools:
        figures = _figures(setup.settings, pool)
        yield Derivation("", pool.name, pool.size, f"{pool.sizes} accelerators", figures)
        for component in setup.components:
            ranks = setup.world_size(component.name) if component.name in pool.components else None
            if ranks is not None:
                formula = f"{ranks} of the {with_noun(pool.size, 'accelerator')} of {pool.name}"
                yield Derivation(component.name, "world size", ranks, formula, figures)
                yield from _of_degrees(setup, component, ranks)


def _figures(settings: Configuration, pool: Pool) -> tuple[Figure, ...]:
    """The two keys that say how large a pool is."""
    keys = (pool.nodes_key, pool.accelerators_key)
    amounts = [settings.whole(key, FIT) for key in keys if key and not key.startswith("--")]
    return tuple(amount.figure for amount in amounts if amount is not None)


def _of_degrees(setup: Setup, component: Component, ranks: int) -> Iterator[Derivation]:
    settings, entry, size, name = setup.settings, setup.entry, component.parallel.replica, component.name
    if is_engine(settings, entry, name):
        known = engine_of(settings, entry, name)
        if known is None:
            return
        figures = tuple(amount.figure for amount in known[1].values() if amount.span or amount.default)  # some have not all of them
        parallel = component.parallel
        yield Derivation(name, "replica size", size, f"tp {parallel.tp} x dp {parallel.dp} x pp {parallel.pp}", figures)
        yield Derivation(name, "replicas", ranks // size, f"{ranks} // {size}", figures)
        return
    if name not in OWNERS or name == "reward_model" or entry.kind in (Kind.TUNING, Kind.PROCESSES):
        return
    trains = trained(settings, OWNERS[name], setup.section(name))
    if trains is None:
        return
    figures = tuple(amount.figure for amount in trains[1].values())
    if size > 1:
        yield Derivation(name, "data parallel size", ranks // size, f"{ranks} // tp x pp x cp = {size}", figures)
        return
    parts = settings.whole(sequence_key(settings, OWNERS[name]), DEGREES, 1)
    if parts is not None:
        formula = f"{ranks} // {parts.value} sequence parallel" if parts.value > 1 else str(ranks)
        yield Derivation(name, "data parallel size", ranks // parts.value, formula, (parts.figure,))
