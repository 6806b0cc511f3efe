"""Conversion of a problem to another dialect: names by role, data of hints, losses."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import Iterable, Iterator, Mapping, Sequence

from .component import BETWEEN_DOMAINS, IN_ORDER, KEYS, NOT_FEWER, SUBSET, UNBOUNDED, Component, Keep, Parallel, Relation, Spread
from .estimate import non_default_keys
from .findings.finding import Finding, Severity, error, warning
from .findings.wording import are, with_noun
from .hints.forms import RACK
from .job import LEXICOGRAPHIC, Link, Preference
from .machines.node_group import CLUSTER_LABEL, NODE
from .memory.work import are_whole
from .placements.assignment import seats
from .placements.run import Run
from .problem import Problem
from .quantity import memory_text, write_range
from .record import dataclass
from .roles import role_of
from .text.edit import ranks_to_data
from .text.tree import MapNode, Scalar, Value

LOSS, REFUSAL = "PW605", "PW606"
ENGINES = frozenset({"vllm", "sglang", "trtllm", "hf", "huggingface"})
"""Names of inference engines in the frameworks."""
_DEGREE = re.compile(r"(ulysses\w*|\w*expert\w*|ep|fsdp|moe_tensor\w*|virtual_pipeline\w*)_size")
"""Keys of sequence, expert and shard sizes and of virtual stages, which some frameworks lack."""


@dataclass(frozen=True, slots=True)
class LostSetting:
    """Difference between two problems; `moves` is True if it may move a process."""

    component: str
    loss: str
    moves: bool


def differences(before: Problem, after: Problem, names: Mapping[str, str]) -> Iterator[LostSetting]:
    """Yield all differences; `names` maps component names of `before` to those of `after`."""
    components = {component.name: component for component in after.components}
    for component in before.components:
        name = names.get(component.name, component.name)
        if name not in components:
            yield LostSetting(component.name, "is missing", True)
        else:
            yield from _lost_settings(before, component, after, components[name])
    names_before = {names.get(component.name, component.name) for component in before.components}
    for name in (name for name in components if name not in names_before):
        yield LostSetting(name, "is new", True)
    hinted_names = {component.name for component in before.hinted}
    relations_after = {(relation.kind, relation.components, relation.level) for relation in after.job.relations}
    for relation in before.job.relations:
        same = relation.kind, tuple(names.get(name, name) for name in relation.components), relation.level
        if hinted_names.intersection(relation.components) and same not in relations_after:
            yield LostSetting("+".join(relation.components), f"are not demanded to be {relation.kind}", True)
    yield from _compare_between(before, after, names)
    dealt = {(share.component, share.amount, share.multiple) for share in after.shares}
    for share in before.shares:
        if share.component in hinted_names and (names.get(share.component, share.component), share.amount, share.multiple) not in dealt:
            yield LostSetting(share.component, f"does not get an equal share of {share.amount_text}", True)


def _compare_between(before: Problem, after: Problem, names: Mapping[str, str]) -> Iterator[LostSetting]:
    """Compare links and objective; estimated links are skipped, as they are estimated again."""
    links_after = {(link.source, link.target): link for link in after.job.links}
    for link in before.job.links:
        same = links_after.get((names.get(link.source, link.source), names.get(link.target, link.target)))
        amounts = (same.weights, same.stream, same.ratio) if same else ()
        if not link.estimate and amounts != (link.weights, link.stream, link.ratio):
            yield LostSetting(f"{link.source}+{link.target}", "are not linked as they were", bool(before.hinted))
    if before.job.preference != after.job.preference:
        yield LostSetting("", "the objective is another", bool(before.hinted))


_OF_PLACES = ("keep", "spread", "pins", "excluded", "offloaded", "host_memory", "estimate")
"""Fields of the demands on topology and memory of a node."""
_OF_SEARCH = ("counts", "least", "most", "per_process", "contiguous", "stride")
"""Fields that only a search heeds."""


def _lost_settings(before: Problem, component: Component, after: Problem, target: Component) -> Iterator[LostSetting]:
    name, is_open, on_nodes = component.name, component.runs is None, before.kind(component) == NODE
    is_searched = is_open and target.runs is None
    if is_open != (target.runs is None):
        yield LostSetting(name, "has ranks that are given in one of the two only", True)
    elif component.runs is not None and target.runs is not None and component.runs != target.runs:
        if move := _describe_move(component.runs, target.runs):
            yield LostSetting(name, move, True)
        elif _labels(component.runs) != _labels(target.runs):
            yield LostSetting(name, "is in other node groups", False)
    if is_searched and _members(before, component) != _members(after, target):
        yield LostSetting(name, "may use other nodes", True)
    fields = dict.fromkeys(_OF_PLACES, is_open) | {"phases": False}
    fields |= dict.fromkeys(_OF_SEARCH, True) if is_searched else {}
    fields |= {} if on_nodes else {"memory": False, "accelerator_model": is_searched}
    for field, moves in fields.items():
        if getattr(component, field) != getattr(target, field):
            yield LostSetting(name, f"differs in its {field.replace('_', ' ')}", moves)
    if is_open and component.divided_among != target.divided_among and not are_whole(component):
        yield LostSetting(name, "need not have whole groups of shards", True)
    is_estimate = name in before.job.estimated or target.name in after.job.estimated
    if component.traffic != target.traffic and not is_estimate:
        yield LostSetting(name, "has other traffic", is_open)
    if component.backend and target.backend and component.backend != target.backend:
        yield LostSetting(name, f"is trained by {target.backend}, not {component.backend}", False)
    if not on_nodes and _choices(before, component) != _choices(after, target):
        yield LostSetting(name, "has other parallel degrees", is_open)


def _members(problem: Problem, component: Component) -> tuple[frozenset[int], str]:
    return problem.cluster.members(component.node_groups), problem.kind(component)


def _choices(problem: Problem, component: Component) -> tuple[Parallel, ...]:
    return tuple(problem.job.choices.get(component.name, (component.parallel,)))


def _describe_move(before: Sequence[Run], after: Sequence[Run]) -> str:
    """Describe the first process with another place; "" if no process moves."""
    old_seats, new_seats = (
        [(rank, [(seat, kind) for seat, kind, _ in places]) for rank, places in seats(runs)] for runs in (before, after)
    )
    for (rank, kept_seats), (_, moved_seats) in zip(old_seats, new_seats):
        if kept_seats != moved_seats:
            return f"has process {rank} elsewhere"
    return f"has {with_noun(len(new_seats), 'process')}, not {len(old_seats)}" if len(old_seats) != len(new_seats) else ""


def _labels(runs: Sequence[Run]) -> list[list[str]]:
    return [list(dict.fromkeys(label for _, _, label in places)) for _, places in seats(runs)]


def warn_of_loss(subject: str, message: str, help: str = "") -> Finding:
    """Build the warning for a loss with effect on the placement."""
    return warning(LOSS, subject, message, help=help)


def note_loss(subject: str, message: str, help: str = "") -> Finding:
    """Build the note for a loss without effect on the placement."""
    return Finding(LOSS, Severity.NOTE, subject, message, help=help)


def refusal(subject: str, message: str, help: str = "", *notes: str) -> Finding:
    """Build the error for an impossible conversion."""
    return error(REFUSAL, subject, message, help=help, notes=notes)


def lost_demands(problem: Problem) -> Iterator[Finding]:
    """Yield the framework's demands on hinted components that the new file lacks."""
    hinted_names = {component.name for component in problem.hinted}
    for relation in problem.job.relations:
        if relation.kind not in KEYS and relation.reason and hinted_names.intersection(relation.components):
            message = f"that {_relation_text(relation)}, as {relation.reason} demands, is lost"
            yield warn_of_loss("+".join(relation.components), message)
    for share in problem.shares:
        if share.component in hinted_names:
            message = f"that the {share.amount_text} of `{share.amount_name}` {are(share.amount)} dealt out evenly to `{share.component}`"
            yield warn_of_loss(share.component, f"{message}, is lost")


def lost_times(problem: Problem) -> Iterator[Finding]:
    """Yield the loss of measured times, which no conversion carries over."""
    with_times = [component for component in problem.components if component.timed is not None]
    if with_times:
        names = " and ".join(filter(None, (", ".join(f"`{component.name}`" for component in with_times[:-1]), f"`{with_times[-1].name}`")))
        message = f"the times of {names}, and what `plan` says of these, are not carried over"
        loss = warn_of_loss if any(component.runs is None for component in with_times) else note_loss
        yield loss("", message, "add them to the new file, where counts and degrees are to be chosen by them")


def lost_settings(root: MapNode, problem: Problem, text: str) -> Iterator[Finding]:
    """Yield the lost engines, and the lost sizes beside tp, pp and dp."""
    words, degrees = (
        set(re.findall(r"\w+", text)),
        {size for component in problem.components for size in (component.parallel.cp, component.parallel.ep)},
    )
    for path, value in _settings(root):
        is_degree = _DEGREE.fullmatch(path.rpartition(".")[2]) and type(value) is int and value > 1 and value not in degrees
        if is_degree or (value in ENGINES and value not in words and words & ENGINES):
            yield note_loss("", f"`{path}` of {value} is not carried over", "set it in the new file, where the job needs it")


def _settings(value: Value, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield path and value of every setting."""
    for entry in value if isinstance(value, MapNode) else ():
        yield from _settings(entry.value, f"{path}.{entry.key.text}".lstrip("."))
    if isinstance(value, Scalar):
        yield path, value.value


def _relation_text(relation: Relation) -> str:
    names = [f"`{name}`" for name in relation.components]
    if relation.kind == NOT_FEWER:
        return f"{names[0]} has at least as many processes as {names[1]}"
    if relation.kind == SUBSET:
        return f"{names[0]} is within {names[1]}"
    kind = "one after the other on the whole cluster" if relation.kind == IN_ORDER else relation.kind
    return f"{' and '.join(names)} are {kind}"


Data = dict[str, object]
_DEGREES = ("tp", "pp", "cp", "ep", "dp")


def map_names(components: Sequence[Component], name_of_role: Mapping[str, str]) -> dict[str, str]:
    """Map component names to their names in another dialect, by role.

    `name_of_role` maps roles to names of that dialect. A component keeps its name if its role is not in
    `name_of_role`, if several components have the role, or if the new name is taken.
    """
    roles = Counter(map(role_of, components))
    old_names = {component.name: component.name for component in components}
    names = {c.name: name_of_role.get(role_of(c), c.name) if roles[role_of(c)] == 1 else c.name for c in components}
    while len(set(names.values())) < len(names):
        claims = Counter(names.values())
        names = {name: new if claims[new] == 1 else old_names[name] for name, new in names.items()}
    return names


def renaming_notes(names: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a note for every renamed component."""
    for before, after in names.items():
        if before != after:
            yield note_loss(before, f"`{before}` is called `{after}` now")


def seats_of(runs: Sequence[Run]) -> tuple[tuple[int, int], ...]:
    """Return (node, accelerator) by rank."""
    return tuple(seat for _, process_seats in seats(runs) for seat, _, _ in process_seats)


def group_sharing(problem: Problem, components: Sequence[Component]) -> list[list[Component]]:
    """Return groups of components that share accelerators, or must share them."""
    seats_by_name = {component.name: set(seats_of(component.runs or ())) for component in components}

    def are_together(first: Component, second: Component) -> bool:
        if first.runs is not None and second.runs is not None:
            return bool(seats_by_name[first.name] & seats_by_name[second.name])
        return any(first in members and second in members for members in problem.colocated_sets)

    groups: list[list[Component]] = []
    for component in components:
        near = [group for group in groups if any(are_together(component, member) for member in group)]
        groups = [group for group in groups if group not in near] + [[*(member for group in near for member in group), component]]
    return [sorted(group, key=components.index) for group in groups]


def topology_to_data(component: Component, is_estimate: bool = False) -> Data:
    """Return the hints about topology and host memory; not traffic that is only `is_estimate`."""
    data: Data = {"offloaded": memory_text(component.offloaded), "host_memory": memory_text(component.host_memory)}
    data["keep"] = _group((keep.unit, _keep(keep)) for keep in component.keep)
    data["spread"] = _unwrap([_spread(spread) for spread in component.spread])
    data["pin"] = [{"ranks": ranks_to_data(pin.ranks), "nodes": ranks_to_data(pin.nodes)} for pin in component.pins]
    data["exclude"] = ranks_to_data(component.excluded) if component.excluded else None
    data["traffic"] = "" if is_estimate else memory_text(component.traffic)
    return {key: value for key, value in data.items() if value not in (None, "", [], {})}


def relations_to_data(problem: Problem, component: Component, names: Mapping[str, str]) -> Data:
    """Return the relations that are keys of the component; `names` are the new names."""
    data: Data = {}
    for kind, key in KEYS.items():
        relations = [relation for relation in problem.find_relations(kind) if relation.components[0] == component.name]
        level_of_name = dict.fromkeys((names[relation.components[1]], relation.level) for relation in relations)
        if level_of_name:
            has_level = kind in BETWEEN_DOMAINS
            data[key] = _unwrap(
                [{"component": name, "level": level} if has_level and level != RACK else name for name, level in level_of_name]
            )
    return data


def hint_block(problem: Problem, names: Mapping[str, str], hints: Mapping[str, object]) -> Data:
    """Return the `placewright:` block of a framework's file; {} without hints."""
    relations = [
        relation_to_data(relation, names)
        for relation in problem.job.relations
        if relation.kind not in KEYS and not relation.reason and names.keys() >= set(relation.components)
    ]
    inner = {"components": hints, "relations": relations, **links_to_data(problem, names)}
    return {"placewright": block} if (block := {key: value for key, value in inner.items() if value}) else {}


def links_to_data(problem: Problem, names: Mapping[str, str]) -> Data:
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


def _group(pairs: Iterable[tuple[str, object]]) -> Data:
    """Group values by key; a single value stands alone."""
    values_of_key: dict[str, list[object]] = {}
    for key, value in pairs:
        values_of_key.setdefault(key, []).append(value)
    return {key: _unwrap(values) for key, values in values_of_key.items()}


def _unwrap(values: list[object]) -> object:
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
        is_demand = component.runs is None or "contiguous" in component.spans or component.stride > 1
        entries = {
            "parallel": degrees, "memory": memory_text(component.memory), "accelerator": component.accelerator_model,
            "contiguous": component.contiguous and is_demand, "any_order": component.any_order and is_demand, "stride": component.stride if component.stride > 1 else 0,
        }  # fmt: skip
        data |= {key: value for key, value in entries.items() if value}
        if component.estimate is not None:
            data["estimate"] = non_default_keys(component.estimate)
        shards = component.estimate.divided_among if component.estimate else 0
        if component.runs is None and component.divided_among != shards and not are_whole(component):
            message = f"that the ranks of `{component.name}` are whole groups of {component.shards} shards is lost"
            losses.append(warn_of_loss(component.name, message))
    if component.phases:
        data["phase"] = component.phases[0] if len(component.phases) == 1 else list(component.phases)
    is_estimate = component.name in problem.job.estimated
    return data | topology_to_data(component, is_estimate) | relations_to_data(problem, component, names)


def counts_to_data(problem: Problem, component: Component) -> Data:
    """Return the demanded counts and node groups."""
    data: Data = {} if component.node_groups == (CLUSTER_LABEL,) else {"node_group": ",".join(component.node_groups)}
    lower, upper = component.least, min(component.most, UNBOUNDED - 1)
    if (component.least, component.most) != (1, UNBOUNDED):
        key = "processes" if problem.kind(component) == NODE else "accelerators"
        ranges = component.counts if lower < upper else ()
        amounts = [low if low == high else write_range((low, high)) for low, high in ranges or ((lower, upper),)]
        data[key] = amounts if ranges else amounts[0]
    if component.per_process > 1:
        data["accelerators_per_process"] = component.per_process
    return data


def _degrees(choices: tuple[Parallel, ...], component: Component, losses: list[Finding]) -> Data:
    """Return every degree other than 1, as a number or as a list of choices."""
    values = {name: list(dict.fromkeys(getattr(choice, name) for choice in choices)) for name in _DEGREES}
    if choices != tuple(Parallel(*degrees) for degrees in product(*values.values())):
        message = f"that `{component.name}` may have only some of the degrees {', or '.join(map(str, choices))} together is not said"
        losses.append(warn_of_loss(component.name, message))
        values = {name: [getattr(component.parallel, name)] for name in _DEGREES}
    return {name: sizes[0] if len(sizes) == 1 else sizes for name, sizes in values.items() if sizes != [1]}
