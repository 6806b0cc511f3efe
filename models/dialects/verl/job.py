"""verl job: components of its pools, what hints leave open, and derivations of numbers.

verl's keys state pool sizes, so a hinted component leaves its pool open: the block `placewright:`
names one of its components and the file itself does not write both keys of its size. With seconds
for one component, the pool is planned even if both keys are written, here or in a text of
`defaults`; the written size is the baseline of the plan.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Collection, Iterator, Mapping, Sequence

from ... import roles
from ...component import COLOCATED, UNBOUNDED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...derivation import Derivation
from ...findings.span import Span
from ...findings.wording import with_noun
from ...hints.block import hinted_entries, timed_names, without
from ...job import HintedJob
from ...machines.cluster import Cluster
from ...model_cards import ModelUse
from ...parallel import DEGREES as DEGREE_NAMES
from ...pools import Pool
from ...record import dataclass
from ...text.nearest import nearest
from ...text.tree import MapNode, Scalar, Value
from ..skeleton import HINTS
from .configuration import SEQUENCE, Configuration
from .degrees import APART, OWNERS, TUNES, Degrees, degrees_in, engine_of, is_engine, is_teacher, own_amounts, place_of, section_of
from .pools import DeclaredPools
from .programs import TRAINERS

_FIXED = {"accelerators_per_process": "per_process", "cpus": "cpus"}
"""Key of the hints -> field of a component that verl fixes."""
REASON = "verl runs all roles of a pool in the same processes"
DEGREES, FIT = "PW208", "PW215"
NAMES = {
    roles.ACTOR: "actor", roles.ROLLOUT: "rollout", roles.REFERENCE: "ref", roles.CRITIC: "critic", roles.REWARD: "reward_model",
    roles.ENVIRONMENT: "env",
}  # fmt: skip
"""Role -> name of verl's component. Source: verl, verl/trainer/ppo/utils.py, Role."""
_ROLES = {name: role for role, name in NAMES.items()} | {APART: roles.ROLLOUT}


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
    declared: DeclaredPools
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


def components_of(settings: Configuration, declaration: DeclaredPools, sized_pools: Collection[Pool]) -> tuple[Component, ...]:
    """Return all components of the pools, without ranks; unknown degrees are 1."""
    if not declaration.pools and settings.entry.kind in TRAINERS:
        # Report wrong degrees even if the size is unknown.
        degrees_in(settings, None, "actor")
    return tuple(
        _component(settings, pool, name, declaration.size(name, pool), pool in sized_pools)
        for pool in declaration.pools
        for name in pool.components
    )


def _component(settings: Configuration, pool: Pool, name: str, size: int, has_size: bool) -> Component:
    parallel, amounts = degrees_in(settings, pool, name) or (Parallel(), dict[str, Amount]())
    is_follower = name in OWNERS and section_of(pool, name) != OWNERS[name] and not is_engine(settings, name)
    if (is_follower or is_teacher(name)) and has_size and size % parallel.replica:
        parallel, amounts = Parallel(), {}  # reported for the role that owns the degrees, or with the pool of teachers
    spans: dict[str, Span] = {key: place for key in ("size", "count", "name") if (place := pool.spans.get(key))}
    if place := pool.span("size"):
        spans |= dict.fromkeys(("name", "placement", "amount"), place)
    if degrees := place_of(amounts):
        spans["parallel"] = degrees
    is_tuned = settings.entry.kind in TUNES and name == "actor"
    role = roles.STUDENT if is_tuned else roles.TEACHER if is_teacher(name) else _ROLES[name]
    strategy = (settings.word(f"{OWNERS[name]}.strategy", DEGREES) if name in OWNERS else "") or ""
    backend = "fsdp" if strategy == "fsdp2" else strategy
    cpus = pool.cpus if name == pool.components[0] else 0  # a pool reserves CPUs once
    return Component(name, least=size, most=size, parallel=parallel, spans=spans, cpus=cpus, role=role, backend=backend)


def relations_of(declaration: DeclaredPools) -> tuple[Relation, ...]:
    """Colocate the components of a pool, except components on a part of the pool."""
    return tuple(
        Relation(COLOCATED, (name, pool.components[0]), pool.span("name"), REASON)
        for pool in declaration.pools
        for name in pool.components[1:]
        if name not in declaration.ranges
    )


def derive_sizes(setup: VerlSetup) -> Iterator[Derivation]:
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
        if (degrees := engine_of(settings, name)) is not None:
            figures = tuple(amount.figure for amount in degrees[1].values() if amount.span or amount.default)
            parallel = component.parallel
            yield Derivation(name, "replica size", size, f"tp {parallel.tp} x dp {parallel.dp} x pp {parallel.pp}", figures)
            yield Derivation(name, "replicas", ranks // size, f"{ranks} // {size}", figures)
        return
    if name not in OWNERS or name == "reward_model" or settings.entry.kind in TUNES or (trains := setup.degrees(name)) is None:
        return
    if size > 1:
        figures = tuple(amount.figure for amount in trains[1].values())
        yield Derivation(name, "data parallel size", ranks // size, f"{ranks} // tp x pp x cp = {size}", figures)
    elif (divisor := settings.whole(settings.sequence_key(OWNERS[name]), DEGREES, 1)) is not None:
        formula = f"{ranks} // {divisor.value} sequence parallel" if divisor.value > 1 else str(ranks)
        yield Derivation(name, "data parallel size", ranks // divisor.value, formula, (divisor.figure,))


# -- hints


def is_open(settings: Configuration, pool: Pool) -> bool:
    """Return True if the size of a pool is left to hints."""
    keys = (pool.nodes_key, pool.accelerators_key)
    if not all(keys) or pool.nodes_key.startswith("--") or pool.nodes_key in settings.instead:
        return False
    block, names = settings.tree(HINTS), set(pool.components)
    if timed_names(block) & names:
        return settings.anew or not all(map(settings.has, keys))
    files = (settings.notes.document.source.name, "--set")
    values = map(settings.at, keys)
    return bool(set(hinted_entries(block)) & names) and not all(
        isinstance(value, Scalar) and not value.is_null and value.span.file in files for value in values
    )


def open_component(component: Component) -> Component:
    """Return the component with open amount and place."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=(), spans=spans)


def with_hints(
    settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...],
    pools: Sequence[Pool], follow: bool,
) -> HintedJob:  # fmt: skip
    """Add hints to the components and relations; unplanned degrees stay verl's.

    `follow`: degrees may follow from the size of a pool or from another choice, so that a plan
    judges a count with the resulting degrees.
    """
    block, by_name = settings.tree(HINTS), {component.name: component for component in components}
    # Unreadable pools have findings of their own.
    unknown = {name: entry for name, entry in hinted_entries(block).items() if name not in by_name} if by_name else {}
    for name, entry in unknown.items():
        close = nearest(name, list(by_name))
        help_ = f"write `{close}`" if close else f"name one of {', '.join(by_name)}"
        # No edit: hints for another component may open a pool that lacks other settings.
        settings.notes.error("PW121", name, f"`{name}` is no component of this job", entry.key.span, "", help_)
    block = without(block, unknown)
    if block is None or not by_name:
        return HintedJob(components, relations)
    from ...hints.block import add_block

    tied_names = [name for name in timed_names(block) if _hint(block, name) is None] if follow else []
    draft = add_block(block, cluster, components, settings.notes.findings, relations, tied_names)
    hinted_components, choices = [], dict[str, tuple[Parallel, ...]]()
    for component in draft.components:
        before, name = by_name[component.name], component.name
        for key, field_name in _FIXED.items():
            hint, hint_value, verl_value = _hint(block, name, key), getattr(component, field_name), getattr(before, field_name)
            if hint is not None and hint_value != verl_value:
                message = f"`{key}` of `{name}` is {hint_value}, but verl makes it {verl_value or 'none'}"
                settings.notes.error("PW121", name, message, hint, "differs", f"leave `{key}` out of the hints")
        component = replace(component, per_process=before.per_process, cpus=before.cpus)
        parallel = _hint(block, name)
        if parallel is not None and component.timed:
            amounts = own_amounts(settings, pools, name)
            open_ = _open_degrees(settings, name, draft.choices.get(name, (component.parallel,)), amounts, parallel)
            if settings.anew and component.runs is None and open_:
                choices[name] = open_
        elif parallel is not None and component.parallel != before.parallel:
            message = f"the hints of `{name}` say {component.parallel}, verl's own keys {before.parallel}"
            settings.notes.error("PW121", name, message, parallel, "differs", "leave `parallel` out of the hints")
        hinted_components.append(replace(component, parallel=before.parallel))
    known_relations = tuple(relation for relation in draft.relations if set(relation.components) <= set(by_name))
    links = tuple(link for link in draft.links if {link.source, link.target} <= set(by_name))
    return HintedJob(tuple(hinted_components), known_relations, choices, links=links, preference=draft.preference, workload=draft.workload)


def says_degrees(settings: Configuration, name: str) -> bool:
    """Return True if the hints of a component state degrees."""
    return _hint(settings.tree(HINTS), name) is not None


def _hint(block: Value | None, name: str, key: str = "parallel") -> Value | None:
    entry = hinted_entries(block).get(name)
    return entry.value.get(key) if entry is not None and isinstance(entry.value, MapNode) else None


def _open_degrees(
    settings: Configuration, name: str, choices: tuple[Parallel, ...], amounts: Mapping[str, Amount], at: Value
) -> tuple[Parallel, ...]:
    """Return the choices that verl's keys can state; add an error for the rest."""
    strange = [parallel for parallel in choices if any(degree not in amounts and getattr(parallel, degree) != 1 for degree in DEGREE_NAMES)]
    if strange:
        keys = ", ".join(f"`{amount.name}`" for amount in amounts.values())
        reason = f"verl takes its degrees from {keys}" if amounts else "verl has no key for degrees of its own"
        help_ = "write degrees that have a key" if amounts else "leave `parallel` out of the hints"
        if strange[0].cp > 1 and "cp" not in amounts and name in OWNERS:
            reason = f"`{OWNERS[name]}.{SEQUENCE}` is taken as the file has it: no plan chooses it"
        message = f"the hints of `{name}` leave {strange[0]} open, and {reason}"
        settings.notes.error("PW121", name, message, at, "cannot be expressed", help_)
    return tuple(parallel for parallel in choices if parallel not in strange)
