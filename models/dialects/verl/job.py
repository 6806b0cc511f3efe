"""A verl job while it is read: what is known of it, its components, and how its numbers come about."""

from __future__ import annotations

from dataclasses import field
from typing import Collection, Iterator

from ... import roles
from ...component import COLOCATED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...derivation import Derivation
from ...findings.span import Span
from ...findings.wording import with_noun
from ...model_cards import ModelUse
from ...pools.pool import Pool
from ...record import dataclass
from .configuration import Configuration
from .degrees import APART, OWNERS, TUNES, Degrees, degrees_in, engine_of, is_engine, is_teacher, place_of, section_of, trained
from .pools import Declared
from .programs import TRAINERS
from .releases import sequence_key

REASON = "verl runs all roles of a pool in the same processes"
DEGREES, FIT = "PW208", "PW215"
_ROLES = {
    "actor": roles.ACTOR, "rollout": roles.ROLLOUT, APART: roles.ROLLOUT, "ref": roles.REFERENCE, "critic": roles.CRITIC,
    "reward_model": roles.REWARD, "env": roles.ENVIRONMENT,
}  # fmt: skip


@dataclass
class Setup:
    """The job; its checks add derivations and models, and change components.

    Attributes
    ----------
    settings : values by dotted path.
    declared : pools whose size is not left open.
    components : with ranks where these are known.
    """

    settings: Configuration
    declared: Declared
    components: tuple[Component, ...]
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Pools whose size is not left open."""
        return self.declared.pools

    def component(self, name: str) -> Component | None:
        """Component of this name, if the job has one."""
        return next((each for each in self.components if each.name == name), None)

    def change(self, before: Component, after: Component) -> None:
        """Put a component in the place of another one."""
        self.components = tuple(after if each is before else each for each in self.components)

    def pool(self, component: str) -> Pool | None:
        """Pool that a component runs on, if its size is known."""
        return next((pool for pool in self.pools if component in pool.components), None)

    def degrees(self, component: str) -> Degrees | None:
        """Degrees of a component with their settings; None if unknown."""
        return degrees_in(self.settings, self.pool(component), component)

    def section(self, name: str) -> str:
        """Section of Megatron's degrees of a trained component, see `section_of`."""
        pool = self.pool(name)
        return section_of(pool.components if pool else (), name)

    def world_size(self, component: str) -> int | None:
        """Number of processes, whatever hints say; None if unknown."""
        pool = self.pool(component)
        return None if pool is None or self.component(component) is None else self.declared.size(component, pool)

    def is_whole(self, component: Component) -> bool:
        """True if a component divides into whole replicas, each on one node or on whole nodes."""
        pool, ranks, size = self.pool(component.name), self.world_size(component.name), component.parallel.replica
        if pool is None or ranks is None or ranks % size:
            return False
        each = pool.parts[0].size
        return component.name != "rollout" or not (each % size and size % each)


def components_of(settings: Configuration, declared: Declared, sized: Collection[Pool]) -> tuple[Component, ...]:
    """Every component of the pools, in their order; without ranks. One whose degrees are unknown has none.

    `sized` are the pools whose sizes are not left open.
    """
    if not declared.pools and settings.entry.kind in TRAINERS:
        trained(settings, OWNERS["actor"], OWNERS["actor"])  # what is wrong with its degrees is said, though its size is unknown
    return tuple(
        _component(settings, pool, name, declared.size(name, pool), pool in sized) for pool in declared.pools for name in pool.components
    )


def _component(settings: Configuration, pool: Pool, name: str, size: int, sized: bool) -> Component:
    tunes = settings.entry.kind in TUNES
    parallel, amounts = degrees_in(settings, pool, name) or (Parallel(), dict[str, Amount]())
    taught = is_teacher(name)  # said with its pool
    followed = name in OWNERS and section_of(pool.components, name) != OWNERS[name] and not is_engine(settings, name)
    if (followed or taught) and sized and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # said of the role whose degrees these are
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    if place := pool.span("size"):
        spans["name"] = spans["placement"] = spans["amount"] = place
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    role = roles.STUDENT if tunes and name == "actor" else roles.TEACHER if is_teacher(name) else _ROLES[name]
    strategy = (settings.word(f"{OWNERS[name]}.strategy", DEGREES) if name in OWNERS else "") or ""
    backend = "fsdp" if strategy == "fsdp2" else strategy
    cpus = pool.cpus if name == pool.components[0] else 0  # a pool reserves them once
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=cpus, role=role, backend=backend)


def relations_of(declared: Declared) -> tuple[Relation, ...]:
    """The components of a pool hold the same accelerators, but for those on parts of it."""
    return tuple(
        Relation(COLOCATED, (name, pool.components[0]), pool.span("name"), REASON)
        for pool in declared.pools
        for name in pool.components[1:]
        if name not in declared.ranges
    )


def derived(setup: Setup) -> Iterator[Derivation]:
    """Size of every pool, and what each component makes of it: world size, replicas, data parallel ranks."""
    for pool in setup.pools:
        keys = (pool.nodes_key, pool.accelerators_key)
        amounts = [setup.settings.whole(key, FIT) for key in keys if key and not key.startswith("--")]
        figures = tuple(amount.figure for amount in amounts if amount is not None)
        yield Derivation("", pool.name, pool.size, f"{pool.sizes} accelerators", figures)
        for component in setup.components:
            ranks = setup.world_size(component.name) if component.name in pool.components else None
            if ranks is not None:
                formula = f"{ranks} of the {with_noun(pool.size, 'accelerator')} of {pool.name}"
                yield Derivation(component.name, "world size", ranks, formula, figures)
                yield from _of_degrees(setup, component, ranks)


def _of_degrees(setup: Setup, component: Component, ranks: int) -> Iterator[Derivation]:
    settings, size, name = setup.settings, component.parallel.replica, component.name
    if is_engine(settings, name):
        if (known := engine_of(settings, name)) is not None:
            figures = tuple(amount.figure for amount in known[1].values() if amount.span or amount.default)
            parallel = component.parallel
            yield Derivation(name, "replica size", size, f"tp {parallel.tp} x dp {parallel.dp} x pp {parallel.pp}", figures)
            yield Derivation(name, "replicas", ranks // size, f"{ranks} // {size}", figures)
        return
    if name not in OWNERS or name == "reward_model" or settings.entry.kind in TUNES or (trains := setup.degrees(name)) is None:
        return
    if size > 1:
        figures = tuple(amount.figure for amount in trains[1].values())
        yield Derivation(name, "data parallel size", ranks // size, f"{ranks} // tp x pp x cp = {size}", figures)
    elif (parts := settings.whole(sequence_key(settings, OWNERS[name]), DEGREES, 1)) is not None:
        formula = f"{ranks} // {parts.value} sequence parallel" if parts.value > 1 else str(ranks)
        yield Derivation(name, "data parallel size", ranks // parts.value, formula, (parts.figure,))
