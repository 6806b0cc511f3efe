"""verl job under construction: facts, components, and derivations of numbers."""

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
from ...pools import Pool
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
class VerlSetup:
    """Job with derivations and models; checks change the components.

    Attributes
    ----------
    settings : values by dotted path.
    declared : pools of a known size.
    components : components, with ranks if known.
    """

    settings: Configuration
    declared: Declared
    components: tuple[Component, ...]
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Pools of a known size."""
        return self.declared.pools

    def component(self, name: str) -> Component | None:
        """Return the component of this name; None if there is none."""
        return next((candidate for candidate in self.components if candidate.name == name), None)

    def change(self, before: Component, after: Component) -> None:
        """Replace a component."""
        self.components = tuple(after if component is before else component for component in self.components)

    def pool(self, component: str) -> Pool | None:
        """Return the pool of a component; None if the size is open."""
        return next((pool for pool in self.pools if component in pool.components), None)

    def degrees(self, component: str) -> Degrees | None:
        """Return the degrees of a component with their settings; None if unknown."""
        return degrees_in(self.settings, self.pool(component), component)

    def section(self, name: str) -> str:
        """Return the section of a trained component's Megatron degrees, see `section_of`."""
        pool = self.pool(name)
        return section_of(pool.components if pool else (), name)

    def world_size(self, component: str) -> int | None:
        """Return the number of processes, regardless of hints; None if unknown."""
        pool = self.pool(component)
        return None if pool is None or self.component(component) is None else self.declared.size(component, pool)

    def is_whole(self, component: Component) -> bool:
        """Return True if a component forms whole replicas, on single nodes or on whole nodes."""
        pool, ranks, size = self.pool(component.name), self.world_size(component.name), component.parallel.replica
        if pool is None or ranks is None or ranks % size:
            return False
        part_size = pool.parts[0].size
        return component.name != "rollout" or not (part_size % size and size % part_size)


def components_of(settings: Configuration, declared: Declared, sized: Collection[Pool]) -> tuple[Component, ...]:
    """Return all components of the pools, without ranks; unknown degrees are 1.

    `sized` are the pools of a known size.
    """
    if not declared.pools and settings.entry.kind in TRAINERS:
        # Report wrong degrees even if the size is unknown.
        trained(settings, OWNERS["actor"], OWNERS["actor"])
    return tuple(
        _component(settings, pool, name, declared.size(name, pool), pool in sized) for pool in declared.pools for name in pool.components
    )


def _component(settings: Configuration, pool: Pool, name: str, size: int, sized: bool) -> Component:
    tunes = settings.entry.kind in TUNES
    parallel, amounts = degrees_in(settings, pool, name) or (Parallel(), dict[str, Amount]())
    taught = is_teacher(name)  # reported with the pool
    followed = name in OWNERS and section_of(pool.components, name) != OWNERS[name] and not is_engine(settings, name)
    if (followed or taught) and sized and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # reported for the role that owns the degrees
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    if place := pool.span("size"):
        spans["name"] = spans["placement"] = spans["amount"] = place
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    role = roles.STUDENT if tunes and name == "actor" else roles.TEACHER if is_teacher(name) else _ROLES[name]
    strategy = (settings.word(f"{OWNERS[name]}.strategy", DEGREES) if name in OWNERS else "") or ""
    backend = "fsdp" if strategy == "fsdp2" else strategy
    cpus = pool.cpus if name == pool.components[0] else 0  # a pool reserves CPUs once
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=cpus, role=role, backend=backend)


def relations_of(declared: Declared) -> tuple[Relation, ...]:
    """Colocate the components of a pool, except components on a part of the pool."""
    return tuple(
        Relation(COLOCATED, (name, pool.components[0]), pool.span("name"), REASON)
        for pool in declared.pools
        for name in pool.components[1:]
        if name not in declared.ranges
    )


def derived(setup: VerlSetup) -> Iterator[Derivation]:
    """Yield the derivations of pool sizes, world sizes, replicas and data parallel sizes."""
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
                yield from _derive_degrees(setup, component, ranks)


def _derive_degrees(setup: VerlSetup, component: Component, ranks: int) -> Iterator[Derivation]:
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
