"""Data of hints: keys of components, of relations and of the topology."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Iterable, Iterator, Mapping, Sequence

from ..component import BETWEEN_DOMAINS, KEYS, UNBOUNDED, Component, Parallel, Relation
from ..estimate import non_default_keys
from ..findings.finding import Finding
from ..hints.locality import RACK
from ..link import Link
from ..locality import Keep, Spread
from ..machines.node_group import CLUSTER_LABEL, NODE
from ..memory.work import are_whole
from ..preference import LEXICOGRAPHIC, Preference
from ..problem import Problem
from ..quantity import memory_text, write_range
from ..ranks import merge, write_ranks
from ..roles import role_of
from ..text.edit import number_or_text
from .losses import dropped, moved

Data = dict[str, object]
_DEGREES = ("tp", "pp", "cp", "ep", "dp")


def ranks_to_data(ranks: Sequence[int]) -> int | str:
    """Write ascending ranks, such as ``0-3,6``; a single rank as a number."""
    return number_or_text(write_ranks((ranks,) if isinstance(ranks, range) else merge([range(rank, rank + 1) for rank in ranks])))


def renamed(components: Sequence[Component], known: Mapping[str, str]) -> dict[str, str]:
    """Map component names to their names in another dialect, by role.

    `known` maps roles to names of that dialect. A component keeps its name if its role is not in
    `known`, if several components have the role, or if the new name is taken.
    """
    roles = Counter(map(role_of, components))
    old_names = {component.name: component.name for component in components}
    names = {c.name: known.get(role_of(c), c.name) if roles[role_of(c)] == 1 else c.name for c in components}
    while len(set(names.values())) < len(names):
        claims = Counter(names.values())
        names = {name: new if claims[new] == 1 else old_names[name] for name, new in names.items()}
    return names


def renaming_notes(names: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a note for every renamed component."""
    for before, after in names.items():
        if before != after:
            yield dropped(before, f"`{before}` is called `{after}` now")


def topology_to_data(component: Component, estimated: bool = False) -> Data:
    """Return the hints about topology and host memory; not traffic that is only `estimated`."""
    data: Data = {"offloaded": memory_text(component.offloaded), "host_memory": memory_text(component.host_memory)}
    data["keep"] = _together((keep.what, _keep(keep)) for keep in component.keep)
    data["spread"] = _alone([_spread(spread) for spread in component.spread])
    data["pin"] = [{"ranks": ranks_to_data(pin.ranks), "nodes": ranks_to_data(pin.nodes)} for pin in component.pins]
    data["exclude"] = ranks_to_data(component.excluded) if component.excluded else None
    data["traffic"] = "" if estimated else memory_text(component.traffic)
    return {key: value for key, value in data.items() if value not in (None, "", [], {})}


def relations_to_data(problem: Problem, component: Component, names: Mapping[str, str]) -> Data:
    """Return the relations that are keys of the component; `names` are the new names."""
    data: Data = {}
    for kind, key in KEYS.items():
        relations = [relation for relation in problem.related(kind) if relation.components[0] == component.name]
        named = dict.fromkeys((names[relation.components[1]], relation.level) for relation in relations)
        if named:
            has_level = kind in BETWEEN_DOMAINS
            data[key] = _alone([{"component": name, "level": level} if has_level and level != RACK else name for name, level in named])
    return data


def hint_block(problem: Problem, names: Mapping[str, str], hints: Mapping[str, object]) -> Data:
    """Return the `placewright:` block of a framework's file; {} without hints."""
    relations = [
        relation_to_data(relation, names)
        for relation in problem.job.relations
        if relation.kind not in KEYS and not relation.reason and names.keys() >= set(relation.components)
    ]
    inner = {"components": hints, "relations": relations, **between_to_data(problem, names)}
    return {"placewright": block} if (block := {key: value for key, value in inner.items() if value}) else {}


def between_to_data(problem: Problem, names: Mapping[str, str]) -> Data:
    """Return the keys `links` and `objective`, without estimated links."""
    links = [_link(link, names) for link in problem.job.links if not link.estimate and {link.source, link.target} <= names.keys()]
    data: Data = {"links": links, "objective": _preference(problem.job.preference)}
    return {key: value for key, value in data.items() if value}


def relation_to_data(relation: Relation, names: Mapping[str, str]) -> Data:
    """Convert a relation to an entry of the section `relations`."""
    data: Data = {"kind": relation.kind, "components": [names[name] for name in relation.components]}
    return data | {key: value for key, value in (("level", relation.level), ("reason", relation.reason)) if value}


def _keep(keep: Keep) -> object:
    if keep.domains == 1 and keep.required:
        return keep.level
    domains: Data = {"domains": keep.domains} if keep.domains > 1 else {}
    return {"level": keep.level, **domains, **({} if keep.required else {"required": False})}


def _spread(spread: Spread) -> object:
    if spread.percent == 100:
        return spread.level if spread.domains == 2 else {"level": spread.level, "domains": spread.domains}
    return {"level": spread.level, **({"domains": spread.domains} if spread.domains > 1 else {}), "percent": spread.percent}


def _link(link: Link, names: Mapping[str, str]) -> Data:
    data: Data = {"from": names[link.source], "to": names[link.target]}
    data |= {key: memory_text(mib) for key, mib in (("weights", link.weights), ("stream", link.stream)) if mib}
    return data | ({"ratio": link.ratio} if link.ratio > 1 else {})


def _preference(preference: Preference) -> object:
    if preference.weights:
        return {"order": preference.order, "weights": dict(preference.weights)}
    return preference.order if preference.order != LEXICOGRAPHIC else None


def _together(pairs: Iterable[tuple[str, object]]) -> Data:
    """Group values by key; a single value stands alone."""
    grouped: dict[str, list[object]] = {}
    for key, value in pairs:
        grouped.setdefault(key, []).append(value)
    return {key: _alone(values) for key, values in grouped.items()}


def _alone(values: list[object]) -> object:
    return values[0] if len(values) == 1 else values


def other_hints_to_data(problem: Problem, component: Component, names: dict[str, str], losses: list[Finding]) -> Data:
    """Return the hints other than node groups and counts; `names` are the new names."""
    data: Data = {"role": component.role} if component.role not in ("", names[component.name]) else {}
    # verl itself reserves the CPUs of a pool once for all its components
    if component.cpus and not problem.job.pools:
        data["cpus"] = component.cpus
    if problem.kind(component) != NODE:
        degrees = _degrees(problem.job.choices.get(component.name, (component.parallel,)), component, losses)
        # without these, contiguity is a rule of the framework, not a demand
        demanded = component.runs is None or "contiguous" in component.spans or component.stride > 1
        written = {
            "parallel": degrees, "memory": memory_text(component.memory), "accelerator": component.accelerator_model,
            "contiguous": component.contiguous and demanded, "any_order": component.any_order and demanded, "stride": component.stride if component.stride > 1 else 0,
        }  # fmt: skip
        data |= {key: value for key, value in written.items() if value}
        if component.estimate is not None:
            data["estimate"] = non_default_keys(component.estimate)
        shards = component.estimate.divided_among if component.estimate else 0
        if component.runs is None and component.divided_among != shards and not are_whole(component):
            message = f"that the ranks of `{component.name}` are whole groups of {component.shards} shards is not said any more"
            losses.append(moved(component.name, message))
    if component.phases:
        data["phase"] = component.phases[0] if len(component.phases) == 1 else list(component.phases)
    estimated = component.name in problem.job.estimated
    return data | topology_to_data(component, estimated) | relations_to_data(problem, component, names)


def counts_to_data(problem: Problem, component: Component) -> Data:
    """Return the demanded counts and node groups."""
    data: Data = {} if component.node_groups == (CLUSTER_LABEL,) else {"node_group": ",".join(component.node_groups)}
    least, most = component.least, min(component.most, UNBOUNDED - 1)
    if (component.least, component.most) != (1, UNBOUNDED):
        key = "processes" if problem.kind(component) == NODE else "accelerators"
        ranges = component.counts if least < most else ()
        written = [low if low == high else write_range((low, high)) for low, high in ranges or ((least, most),)]
        data[key] = written if ranges else written[0]
    if component.per_process > 1:
        data["accelerators_per_process"] = component.per_process
    return data


def _degrees(choices: tuple[Parallel, ...], component: Component, losses: list[Finding]) -> Data:
    """Return every degree other than 1, as a number or as a list of choices."""
    values = {name: list(dict.fromkeys(getattr(choice, name) for choice in choices)) for name in _DEGREES}
    if choices != tuple(Parallel(*degrees) for degrees in product(*values.values())):
        message = f"that `{component.name}` may have only some of the degrees {', or '.join(map(str, choices))} together is not said"
        losses.append(moved(component.name, message))
        values = {name: [getattr(component.parallel, name)] for name in _DEGREES}
    return {name: sizes[0] if len(sizes) == 1 else sizes for name, sizes in values.items() if sizes != [1]}
