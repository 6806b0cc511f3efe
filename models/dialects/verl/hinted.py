"""Components that hints leave to solve: verl's keys say how large a pool is, so their pool is open until they are written.

A pool is open where the block `placewright:` names one of its components and the file itself does not write both keys of its size.
Where the block says seconds of one, it is planned whether they are written or not, here or in a text of `defaults`; where they are, that
is the size of which the plan is told beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence
from typing import Mapping as MappingType

from ...component import UNBOUNDED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...hints.said import timed_names
from ...hints.without import without
from ...machines.cluster import Cluster
from ...pools.pool import Pool
from ...said import Said
from ...text.nearest import nearest
from ...text.tree import Mapping, Scalar, Value
from .components.parallel import OWNERS
from .configuration import Configuration
from .planning.degrees import can_say

HINTS = "placewright"
SEQUENCE = "ulysses_sequence_parallel_size"
_FIXED = {"accelerators_per_process": "per_process", "cpus": "cpus"}
"""Key of the hints -> the field of a component that it says, and that verl has by itself."""
Own = Callable[[str], MappingType[str, Amount]]
"""Component -> the numbers that say its own degrees."""


def is_open(settings: Configuration, pool: Pool) -> bool:
    """Is the size of a pool left to hints?"""
    if not pool.nodes_key or not pool.accelerators_key or pool.nodes_key.startswith("--"):
        return False
    if pool.nodes_key in settings.instead:
        return False
    block = settings.tree(HINTS)
    if timed_names(block) & set(pool.components):
        return settings.anew or not all(map(settings.has, (pool.nodes_key, pool.accelerators_key)))
    hinted = _names(block)
    return bool(hinted & set(pool.components)) and not all(_written(settings, key) for key in (pool.nodes_key, pool.accelerators_key))


def _names(block: Value | None) -> set[str]:
    inner = block.get("components") if isinstance(block, Mapping) else None
    return {entry.key.text for entry in inner} if isinstance(inner, Mapping) else set()


def _written(settings: Configuration, key: str) -> bool:
    value = settings.at(key)
    files = (settings.notes.document.source.name, "--set")
    return isinstance(value, Scalar) and not value.is_null and value.span.file in files


def opened(component: Component) -> Component:
    """The component with its amount and its place left open."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=(), spans=spans)


def with_hints(
    settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...], own: Own, follow: bool
) -> Said:
    """The components with what hints say of them, and all relations; their degrees are those of verl's own keys.

    Where a component has times, hints may leave its degrees open; `own` gives the numbers of a component that say its own. `follow`: these
    may follow from the size of its pool, or from a choice of others, so that a plan judges its count with those that come out.
    """
    block = _of_components(settings, [component.name for component in components])
    if block is None:
        return Said(components, relations)
    from ...hints.block import add_block

    findings = settings.notes.findings
    known = {component.name: component for component in components}
    tied = [name for name in timed_names(block) if _parallel(block, name) is None] if follow else []
    said = add_block(block, cluster, components, findings, relations, tied)
    kept, choices = [], dict[str, tuple[Parallel, ...]]()
    for component in said.components:
        before = known[component.name]
        component = _as_verl_has_it(settings, before, component, block)
        if component.timed and _parallel(block, component.name) is not None:
            open_ = _open_degrees(settings, component, said.choices.get(component.name, (component.parallel,)), own(component.name), block)
            if settings.anew and component.runs is None and open_:
                choices[component.name] = open_
            kept.append(replace(component, parallel=before.parallel))
        else:
            kept.append(_with_own_degrees(settings, before, component, block))
    names = {component.name for component in kept}
    its = tuple(each for each in said.relations if set(each.components) <= names)
    links = tuple(link for link in said.links if {link.source, link.target} <= names)
    return Said(tuple(kept), its, choices, links=links, preference=said.preference, workload=said.workload)


def _of_components(settings: Configuration, names: Sequence[str]) -> Value | None:
    """The hints without those of what is no component of the job; an error for each of these."""
    block = settings.tree(HINTS)
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not names:
        return None  # which components there are could not be read, which is told where that stands
    others = [entry for entry in inner if entry.key.text not in names] if isinstance(inner, Mapping) else []
    for entry in others:
        name, close = entry.key.text, nearest(entry.key.text, names)
        help_ = f"write `{close}`" if close else f"name one of {', '.join(names)}"
        # No edit: what is said of another component may open its pool, of which something else may be missing then.
        settings.notes.error("PW121", name, f"`{name}` is no component of this job", entry.key.span, "", help_)
    return without(block, others) if others else block


def says_degrees(settings: Configuration, name: str) -> bool:
    """Do the hints of a component say degrees of it?"""
    block = settings.tree(HINTS)
    return block is not None and _parallel(block, name) is not None


def _parallel(block: Value, name: str) -> Value | None:
    return _hint(block, name, "parallel")


def _hint(block: Value, name: str, key: str) -> Value | None:
    inner = block.get("components") if isinstance(block, Mapping) else None
    hints = inner.get(name) if isinstance(inner, Mapping) else None
    return hints.get(key) if isinstance(hints, Mapping) else None


def _as_verl_has_it(settings: Configuration, before: Component, component: Component, block: Value) -> Component:
    """The component with what verl fixes; an error for hints that say otherwise."""
    for key, field in _FIXED.items():
        said, its = _hint(block, component.name, key), getattr(before, field)
        if said is not None and getattr(component, field) != its:
            message = f"`{key}` of `{component.name}` is {getattr(component, field)}, but verl makes it {its or 'none'}"
            settings.notes.error("PW121", component.name, message, said, "differs", f"leave `{key}` out of the hints")
    return replace(component, **{field: getattr(before, field) for field in _FIXED.values()})


def _open_degrees(
    settings: Configuration, component: Component, choices: tuple[Parallel, ...], own: MappingType[str, Amount], block: Value
) -> tuple[Parallel, ...]:
    """The choices that verl's keys can say; an error where there is one that they cannot."""
    if strange := [each for each in choices if not can_say(own, each)]:
        keys = ", ".join(f"`{amount.name}`" for amount in own.values())
        said = f"verl takes its degrees from {keys}" if own else "verl has no key for degrees of its own"
        help_ = "write degrees that have a key" if own else "leave `parallel` out of the hints"
        if strange[0].cp > 1 and "cp" not in own and component.name in OWNERS:
            said = f"`{OWNERS[component.name]}.{SEQUENCE}` is taken as the file has it: no plan chooses it"
        message = f"the hints of `{component.name}` leave {strange[0]} open, and {said}"
        settings.notes.error("PW121", component.name, message, _parallel(block, component.name) or block, "cannot be said", help_)
    return tuple(each for each in choices if each not in strange)


def _with_own_degrees(settings: Configuration, before: Component, component: Component, block: Value) -> Component:
    said = _parallel(block, component.name)
    if said is not None and component.parallel != before.parallel:
        message = f"the hints of `{component.name}` say {component.parallel}, verl's own keys {before.parallel}"
        help_ = "leave `parallel` out of the hints; verl takes it from its own keys"
        settings.notes.error("PW121", component.name, message, said, "differs", help_)
    return replace(component, parallel=before.parallel)
