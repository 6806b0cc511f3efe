"""Components left to hints: verl's keys state pool sizes, so their pool is open.

A pool is open if the block `placewright:` names one of its components and the file itself does not
write both keys of its size. With seconds for one component, the pool is planned even if both keys
are written, here or in a text of `defaults`; the written size is the baseline of the plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ...component import UNBOUNDED, Component, Parallel, Relation
from ...configuration.settings import Amount
from ...hints.block import timed_names, without
from ...job import HintedJob
from ...machines.cluster import Cluster
from ...pools import Pool
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Scalar, Value
from ..skeleton import HINTS
from .configuration import Configuration
from .degrees import OWNERS, own_amounts
from .releases import SEQUENCE

_FIXED = {"accelerators_per_process": "per_process", "cpus": "cpus"}
"""Key of the hints -> field of a component that verl fixes."""


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
    return bool(set(_hints(block)) & names) and not all(
        isinstance(value, Scalar) and not value.is_null and value.span.file in files for value in values
    )


def opened(component: Component) -> Component:
    """Return the component with open amount and place."""
    spans = {name: span for name, span in component.spans.items() if name not in ("placement", "amount")}
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=(), spans=spans)


def with_hints(
    settings: Configuration, cluster: Cluster, components: tuple[Component, ...], relations: tuple[Relation, ...],
    pools: Sequence[Pool], follow: bool,
) -> HintedJob:  # fmt: skip
    """Add hints to the components and relations; the degrees stay verl's.

    For a component with times, hints may leave degrees open. `follow`: its degrees may follow from
    the size of its pool or from another choice, so that a plan judges its count with the resulting
    degrees.
    """
    block = _of_components(settings, [component.name for component in components])
    if block is None:
        return HintedJob(components, relations)
    from ...hints.block import add_block

    known = {component.name: component for component in components}
    tied = [name for name in timed_names(block) if _hint(block, name) is None] if follow else []
    draft = add_block(block, cluster, components, settings.notes.findings, relations, tied)
    hinted_components, choices = [], dict[str, tuple[Parallel, ...]]()
    for component in draft.components:
        before, name = known[component.name], component.name
        component = _as_verl_has_it(settings, before, component, block)
        parallel = _hint(block, name)
        if parallel is not None and component.timed:
            amounts = own_amounts(settings, pools, name)
            open_ = _open_degrees(settings, name, draft.choices.get(name, (component.parallel,)), amounts, parallel)
            if settings.anew and component.runs is None and open_:
                choices[name] = open_
        elif parallel is not None and component.parallel != before.parallel:
            message = f"the hints of `{name}` say {component.parallel}, verl's own keys {before.parallel}"
            _differs(settings, name, message, parallel, "parallel")
        hinted_components.append(replace(component, parallel=before.parallel))
    known_relations = tuple(relation for relation in draft.relations if set(relation.components) <= set(known))
    links = tuple(link for link in draft.links if {link.source, link.target} <= set(known))
    return HintedJob(tuple(hinted_components), known_relations, choices, links=links, preference=draft.preference, workload=draft.workload)


def _of_components(settings: Configuration, names: Sequence[str]) -> Value | None:
    """Remove hints for unknown components, with an error for each."""
    block = settings.tree(HINTS)
    if not names:
        return None  # the unreadable pools have findings of their own
    unknown = [entry for name, entry in _hints(block).items() if name not in names]
    for entry in unknown:
        name, close = entry.key.text, nearest(entry.key.text, names)
        help_ = f"write `{close}`" if close else f"name one of {', '.join(names)}"
        # No edit: hints for another component may open a pool that lacks other settings.
        settings.notes.error("PW121", name, f"`{name}` is no component of this job", entry.key.span, "", help_)
    return without(block, unknown) if unknown else block


def _hints(block: Value | None) -> dict[str, Entry]:
    """Map components to the entries of their hints."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    return {entry.key.text: entry for entry in inner} if isinstance(inner, MapNode) else {}


def says_degrees(settings: Configuration, name: str) -> bool:
    """Return True if the hints of a component state degrees."""
    return _hint(settings.tree(HINTS), name) is not None


def _hint(block: Value | None, name: str, key: str = "parallel") -> Value | None:
    entry = _hints(block).get(name)
    return entry.value.get(key) if entry is not None and isinstance(entry.value, MapNode) else None


def _differs(settings: Configuration, name: str, message: str, at: Value, key: str) -> None:
    settings.notes.error("PW121", name, message, at, "differs", f"leave `{key}` out of the hints")


def _as_verl_has_it(settings: Configuration, before: Component, component: Component, block: Value) -> Component:
    """Restore the fields fixed by verl; add an error for hints that differ."""
    for key, field in _FIXED.items():
        hint, fixed = _hint(block, component.name, key), getattr(before, field)
        if hint is not None and getattr(component, field) != fixed:
            message = f"`{key}` of `{component.name}` is {getattr(component, field)}, but verl makes it {fixed or 'none'}"
            _differs(settings, component.name, message, hint, key)
    return replace(component, **{field: getattr(before, field) for field in _FIXED.values()})


def _open_degrees(
    settings: Configuration, name: str, choices: tuple[Parallel, ...], own: Mapping[str, Amount], at: Value
) -> tuple[Parallel, ...]:
    """Return the choices that verl's keys can state; add an error for the rest."""
    degrees = ("tp", "pp", "cp", "ep", "dp")
    strange = [parallel for parallel in choices if any(degree not in own and getattr(parallel, degree) != 1 for degree in degrees)]
    if strange:
        keys = ", ".join(f"`{amount.name}`" for amount in own.values())
        reason = f"verl takes its degrees from {keys}" if own else "verl has no key for degrees of its own"
        help_ = "write degrees that have a key" if own else "leave `parallel` out of the hints"
        if strange[0].cp > 1 and "cp" not in own and name in OWNERS:
            reason = f"`{OWNERS[name]}.{SEQUENCE}` is taken as the file has it: no plan chooses it"
        message = f"the hints of `{name}` leave {strange[0]} open, and {reason}"
        settings.notes.error("PW121", name, message, at, "cannot be said", help_)
    return tuple(parallel for parallel in choices if parallel not in strange)
