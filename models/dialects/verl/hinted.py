"""Components that hints leave to solve: verl's keys say how large a pool is, so their pool is open until they are written.

A pool is open where the block `placewright:` names one of its components and the file itself does not write both keys of its size.
Where the block says seconds of one, it is planned whether they are written or not, here or in a text of `defaults`; where they are, that
is the size of which the plan is told beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ...component import UNBOUNDED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...hints.block import timed_names, without
from ...machines.cluster import Cluster
from ...pools.pool import Pool
from ...said import Said
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Scalar, Value
from ..skeleton import HINTS
from .configuration import Configuration
from .degrees import OWNERS, own_amounts
from .releases import SEQUENCE

_FIXED = {"accelerators_per_process": "per_process", "cpus": "cpus"}
"""Key of the hints -> the field of a component that it says, and that verl has by itself."""


def is_open(settings: Configuration, pool: Pool) -> bool:
    """True if the size of a pool is left to hints."""
    keys = (pool.nodes_key, pool.accelerators_key)
    if not all(keys) or pool.nodes_key.startswith("--") or pool.nodes_key in settings.instead:
        return False
    block, names = settings.tree(HINTS), set(pool.components)
    if timed_names(block) & names:
        return settings.anew or not all(map(settings.has, keys))
    files = (settings.notes.document.source.name, "--set")
    values = map(settings.at, keys)
    return bool(set(_hints(block)) & names) and not all(
        isinstance(value, Scalar) and not value.is_null and value.span.file in files for value in values
    )


def opened(component: Component) -> Component:
    """The component with its amount and its place left open."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=(), spans=spans)


def with_hints(
    settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...],
    pools: Sequence[Pool], follow: bool,
) -> Said:  # fmt: skip
    """The components with what hints say of them, and all relations; their degrees are those of verl's own keys.

    Where a component has times, hints may leave its degrees open. `follow`: these may follow from the size of its pool, or from a
    choice of others, so that a plan judges its count with those that come out.
    """
    block = _of_components(settings, [component.name for component in components])
    if block is None:
        return Said(components, relations)
    from ...hints.block import add_block

    known = {component.name: component for component in components}
    tied = [name for name in timed_names(block) if _hint(block, name) is None] if follow else []
    said = add_block(block, cluster, components, settings.notes.findings, relations, tied)
    kept, choices = [], dict[str, tuple[Parallel, ...]]()
    for component in said.components:
        before, name = known[component.name], component.name
        component = _as_verl_has_it(settings, before, component, block)
        parallel = _hint(block, name)
        if parallel is not None and component.timed:
            amounts = own_amounts(settings, pools, name)
            open_ = _open_degrees(settings, name, said.choices.get(name, (component.parallel,)), amounts, parallel)
            if settings.anew and component.runs is None and open_:
                choices[name] = open_
        elif parallel is not None and component.parallel != before.parallel:
            message = f"the hints of `{name}` say {component.parallel}, verl's own keys {before.parallel}"
            _differs(settings, name, message, parallel, "parallel")
        kept.append(replace(component, parallel=before.parallel))
    held = tuple(each for each in said.relations if set(each.components) <= set(known))
    links = tuple(link for link in said.links if {link.source, link.target} <= set(known))
    return Said(tuple(kept), held, choices, links=links, preference=said.preference, workload=said.workload)


def _of_components(settings: Configuration, names: Sequence[str]) -> Value | None:
    """The hints without those of what is no component of the job; an error for each of these."""
    block = settings.tree(HINTS)
    if not names:
        return None  # which components there are could not be read, which is told where that stands
    others = [entry for name, entry in _hints(block).items() if name not in names]
    for entry in others:
        name, close = entry.key.text, nearest(entry.key.text, names)
        help_ = f"write `{close}`" if close else f"name one of {', '.join(names)}"
        # No edit: what is said of another component may open its pool, of which something else may be missing then.
        settings.notes.error("PW121", name, f"`{name}` is no component of this job", entry.key.span, "", help_)
    return without(block, others) if others else block


def _hints(block: Value | None) -> dict[str, Entry]:
    """Component -> the entry of its hints."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    return {entry.key.text: entry for entry in inner} if isinstance(inner, MapNode) else {}


def says_degrees(settings: Configuration, name: str) -> bool:
    """True if the hints of a component say degrees of it."""
    return _hint(settings.tree(HINTS), name) is not None


def _hint(block: Value | None, name: str, key: str = "parallel") -> Value | None:
    entry = _hints(block).get(name)
    return entry.value.get(key) if entry is not None and isinstance(entry.value, MapNode) else None


def _differs(settings: Configuration, name: str, message: str, at: Value, key: str) -> None:
    settings.notes.error("PW121", name, message, at, "differs", f"leave `{key}` out of the hints")


def _as_verl_has_it(settings: Configuration, before: Component, component: Component, block: Value) -> Component:
    """The component with what verl fixes; an error for hints that say otherwise."""
    for key, field in _FIXED.items():
        said, fixed = _hint(block, component.name, key), getattr(before, field)
        if said is not None and getattr(component, field) != fixed:
            message = f"`{key}` of `{component.name}` is {getattr(component, field)}, but verl makes it {fixed or 'none'}"
            _differs(settings, component.name, message, said, key)
    return replace(component, **{field: getattr(before, field) for field in _FIXED.values()})


def _open_degrees(
    settings: Configuration, name: str, choices: tuple[Parallel, ...], own: Mapping[str, Amount], at: Value
) -> tuple[Parallel, ...]:
    """The choices that verl's keys can say; an error where there is one that they cannot."""
    degrees = ("tp", "pp", "cp", "ep", "dp")
    strange = [each for each in choices if any(degree not in own and getattr(each, degree) != 1 for degree in degrees)]
    if strange:
        keys = ", ".join(f"`{amount.name}`" for amount in own.values())
        said = f"verl takes its degrees from {keys}" if own else "verl has no key for degrees of its own"
        help_ = "write degrees that have a key" if own else "leave `parallel` out of the hints"
        if strange[0].cp > 1 and "cp" not in own and name in OWNERS:
            said = f"`{OWNERS[name]}.{SEQUENCE}` is taken as the file has it: no plan chooses it"
        message = f"the hints of `{name}` leave {strange[0]} open, and {said}"
        settings.notes.error("PW121", name, message, at, "cannot be said", help_)
    return tuple(each for each in choices if each not in strange)
