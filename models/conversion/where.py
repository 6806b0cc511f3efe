"""Demands about the topology, relations, links and the objective as the keys that `models/hints` would read back as the same."""

from __future__ import annotations

from typing import Iterable, Mapping

from ..component import BETWEEN_DOMAINS, KEYS, Component, Relation
from ..hints.levels import RACK
from ..link import Link
from ..locality import Keep, Spread
from ..preference import LEXICOGRAPHIC, Preference
from ..problem import Problem
from ..quantity import memory_text
from .ranks import ranks_to_data

Data = dict[str, object]


def where_to_data(component: Component, estimated: bool = False) -> Data:
    """What is said of the component and the topology, and of the memory of its nodes; not traffic that is only `estimated`."""
    data: Data = {"offloaded": memory_text(component.offloaded), "host_memory": memory_text(component.host_memory)}
    data["keep"] = _together((keep.what, _keep(keep)) for keep in component.keep)
    data["spread"] = _alone([_spread(spread) for spread in component.spread])
    data["pin"] = [{"ranks": ranks_to_data(pin.ranks), "nodes": ranks_to_data(pin.nodes)} for pin in component.pins]
    data["exclude"] = ranks_to_data(component.excluded) if component.excluded else None
    data["traffic"] = "" if estimated else memory_text(component.traffic)
    return {key: value for key, value in data.items() if value not in (None, "", [], {})}


def related_to_data(problem: Problem, component: Component, names: Mapping[str, str]) -> Data:
    """The relations that keys of the component state. `names` are those that components have in the new file."""
    data: Data = {}
    for kind, key in KEYS.items():
        its = [relation for relation in problem.related(kind) if relation.components[0] == component.name]
        others = dict.fromkeys((names[relation.components[1]], relation.level) for relation in its)
        if others:
            far = kind in BETWEEN_DOMAINS
            data[key] = _alone([{"component": name, "level": level} if far and level != RACK else name for name, level in others])
    return data


def hint_block(problem: Problem, names: Mapping[str, str], hints: Mapping[str, object]) -> Data:
    """The block `placewright:` of a framework's file, with these hints; {} if there is nothing to be said."""
    relations = [
        relation_to_data(relation, names)
        for relation in problem.job.relations
        if relation.kind not in KEYS and not relation.reason and names.keys() >= set(relation.components)
    ]
    inner = {"components": hints, "relations": relations, **between_to_data(problem, names)}
    return {"placewright": its} if (its := {key: value for key, value in inner.items() if value}) else {}


def between_to_data(problem: Problem, names: Mapping[str, str]) -> Data:
    """The keys `links` and `objective`, where there is something to be said; not what is only estimated."""
    links = [_link(link, names) for link in problem.job.links if not link.estimate and {link.source, link.target} <= names.keys()]
    data: Data = {"links": links, "objective": _preference(problem.job.preference)}
    return {key: value for key, value in data.items() if value}


def relation_to_data(relation: Relation, names: Mapping[str, str]) -> Data:
    """A relation as an entry of the section `relations`."""
    data: Data = {"kind": relation.kind, "components": [names[name] for name in relation.components]}
    return data | {key: its for key, its in (("level", relation.level), ("reason", relation.reason)) if its}


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
    """The values of each key, alone where there is only one."""
    found: dict[str, list[object]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: _alone(values) for key, values in found.items()}


def _alone(values: list[object]) -> object:
    return values[0] if len(values) == 1 else values
