"""Hints turned into components, relations and open choices."""

from __future__ import annotations

from typing import Any, Callable, Collection, Iterator, Mapping, NamedTuple

from ..component import BETWEEN_DOMAINS, EP, KEPT, KEYS, TP, UNBOUNDED, WHOLE, Component, Keep, Parallel, Pin, Relation, Spread
from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..placements.placement_list import HELPS
from ..ranks import CODES_BY_REASON, RankError, parse_ranks
from ..record import replace
from ..roles import ROLES
from ..text.edit import correct_name, in_flow_map
from ..text.form import fill
from ..text.tree import Entry, ListNode, MapNode, Value, find, kind_of
from .amount import amount
from .consistent import check_consistency, explain_unlikely
from .forms import RACK, ComponentForm, OtherForm
from .relations import find_unresolved
from .times import build_times, duplicate_time, example, missing_counts, misspelt_phases, read_models

Fields = dict[str, object]


def locality_fields(form: ComponentForm, name: str, value: Value, cluster: Cluster) -> Fields:
    """Return the component fields of the locality hints. Raises UnusableInput with every fault."""
    findings: list[Finding] = []
    fields: Fields = {}
    if form.keep is not None:
        fields["keep"] = tuple(_keeps(form, name, value, findings))
    if form.spread:
        fields["spread"] = tuple(_spreads(form, value))
    if form.pin:
        fields["pins"] = tuple(_pins(form, name, value, cluster, findings))
    if form.exclude is not None:
        fields["excluded"] = _nodes(form.exclude, name, find(value, "exclude") or value, "exclude", cluster, findings)
    if findings:
        raise UnusableInput(findings)
    return fields


def relations_of(form: ComponentForm, name: str, value: Value) -> Iterator[Relation]:
    """Yield the relations in keys of the component, with their places."""
    for kind, key in KEYS.items() if not form.written_keys.isdisjoint(KEYS.values()) else ():
        for position, target in enumerate(getattr(form, key)):
            span = _entry(value, key, position).span
            if isinstance(target, OtherForm):
                yield Relation(kind, (name, target.component), span, level=target.level)
            else:
                yield Relation(kind, (name, target), span, level=RACK if kind in BETWEEN_DOMAINS else "")


def _entry(value: Value, key: str, position: int) -> Value:
    """Return the text at a position of a list, or the single value."""
    item = find(value, key) or value
    return item.items[position] if isinstance(item, ListNode) else item


def _keeps(form: ComponentForm, name: str, value: Value, findings: list[Finding]) -> Iterator[Keep]:
    for unit in KEPT:
        for position, spec in enumerate(getattr(form.keep, unit)):
            item = _entry(value, f"keep.{unit}", position)
            keep = Keep(unit, spec if isinstance(spec, str) else spec.level, span=item.span)
            keep = keep if isinstance(spec, str) else replace(keep, domains=spec.domains, required=spec.required)
            if keep.domains == 1 or unit == WHOLE:
                yield keep
                continue
            noun = {TP: "a tp group", EP: "an ep group"}.get(unit, "a replica")
            message = f"`keep` lets {noun} of `{name}` be in {keep.domains} domains, which only the whole component can"
            place = find(item, "domains") or item
            findings.append(error("PW121", name, message, place.span, label="more than one", help="drop `domains`, or name a wider level"))


def _spreads(form: ComponentForm, value: Value) -> Iterator[Spread]:
    for position, spec in enumerate(form.spread):
        span = _entry(value, "spread", position).span
        if isinstance(spec, str):
            yield Spread(spec, 2, span=span)
        else:
            yield Spread(spec.level, spec.domains or (2 if spec.percent == 100 else 1), spec.percent, span)


def _pins(form: ComponentForm, name: str, value: Value, cluster: Cluster, findings: list[Finding]) -> Iterator[Pin]:
    for position, spec in enumerate(form.pin):
        item = _entry(value, "pin", position)
        nodes = _nodes(spec.nodes, name, find(item, "nodes") or item, "nodes", cluster, findings)
        place = find(item, "ranks") or item
        try:
            ranges = parse_ranks(spec.ranks, None, "process").ranges
        except RankError as problem:
            findings.append(_fault(problem, name, "ranks", spec.ranks, place.span))
            continue
        if not ranges or not nodes:
            key = "nodes" if ranges else "ranks"
            span = (find(item, key) or item).span
            findings.append(error("PW112", name, f"`{key}` of a pin of `{name}` names nothing", span, help="write numbers such as `0-7`"))
        for ranks in ranges if nodes else ():
            yield Pin(ranks, nodes, item.span)


def _nodes(texts: tuple[str, ...], name: str, value: Value, key: str, cluster: Cluster, findings: list[Finding]) -> tuple[int, ...]:
    """Return the ranks of nodes named by rank, range or name, ascending."""
    ranks: set[int] = set()
    names: dict[str, int] | None = None
    size = len(cluster.nodes)
    for position, text in enumerate(texts):
        span = value.items[position].span if isinstance(value, ListNode) and position < len(value.items) else value.span
        for item in [text] if "," not in text or set(text) <= _RANKS else text.split(","):
            if set(item) <= _RANKS or item.strip().lower() == "all":
                try:
                    ranks.update(parse_ranks(item, size, "node"))
                except RankError as problem:
                    findings.append(_fault(problem, name, key, text, span))
                continue
            names = names if names is not None else {cluster.name(rank): rank for rank in range(size)}
            item = item.strip()
            if item in names:
                ranks.add(names[item])
                continue
            advice, edit = correct_name(item, names, span if item == text.strip() else None, HELPS["node"])
            message = f"`{key}` of `{name}` names `{item[:60]}`, which is not a node"
            findings.append(error("PW102", name, message, span, label="not a node", help=advice, edit=edit))
    return tuple(sorted(ranks))


_RANKS = frozenset("0123456789-, ")


def _fault(problem: RankError, name: str, key: str, text: str, span: Span) -> Finding:
    better = problem.replacement if problem.replacement and "," not in text else None
    edit = Edit(span, in_flow_map(better)) if better else None
    advice = f"write `{better}`" if better else "write ranks such as `0-7`"
    message = f"`{key}` of `{name}`: {problem}"
    return error(CODES_BY_REASON[problem.reason], name, message, span, label=problem.label, help=advice, edit=edit)


MAX_CHOICES = 64
Relations = tuple[Relation, ...]
Choices = Mapping[str, tuple[Parallel, ...]]
_FIELDS = {
    "accelerators": "amount", "processes": "amount", "accelerator": "accelerator_model", "accelerators_per_process": "per_process",
    "pin": "pins", "exclude": "excluded", "phase": "phases", "seconds": "timed",
}  # fmt: skip


class HintedComponents(NamedTuple):
    """Result of reading hints; `faulty` names components with unusable hints."""

    components: tuple[Component, ...]
    relations: Relations
    choices: Choices
    faulty: frozenset[str]


def add_hints(
    inner: MapNode, cluster: Cluster, components: tuple[Component, ...], findings: list[Finding], further: Relations = (),
    without_division: Collection[str] = (),
) -> HintedComponents:  # fmt: skip
    """Merge hints into the known components, and add new components.

    Parameters
    ----------
    inner : name -> hints.
    components : components with ranks given elsewhere; hints about them are checked, not searched.
    findings : gets every fault of the block.
    further : relations from elsewhere in the file.
    without_division : components whose framework divides nothing by their degrees, so no multiple is
        required.
    """
    by_known_name = {component.name: component for component in components}
    by_name, relations, choices = dict(by_known_name), list(further), dict[str, tuple[Parallel, ...]]()
    faulty = {entry.key.text for entry in inner}
    for entry in inner:
        name = entry.key.text
        if fault := find_unresolved(entry.value, f"the hints of `{name}` need", name):
            findings.append(fault)
            continue
        if not isinstance(entry.value, MapNode):
            message = f"the hints of `{name}` are {kind_of(entry.value)}, not a map"
            advice = "write hints such as `{accelerators: 8}`, or `{placement: 0-7}`"
            findings.append(error("PW105", name, message, entry.value.span, label=kind_of(entry.value), help=advice))
            continue
        try:
            form = fill(ComponentForm, entry.value, name, f"the hints of `{name}`")
            form = read_models(form, cluster)
            component = _component(form, name, entry, cluster, by_known_name.get(name))
        except UnusableInput as problem:
            findings += problem.findings
            continue
        by_name[name] = component
        faulty.remove(name)
        relations += relations_of(form, name, entry.value)
        if len(form.parallel.choices) > 1:
            choices[name] = form.parallel.choices
    count = 1
    for name, alternatives in choices.items():
        if by_name[name].timed is None:  # with times, the planner chooses degrees
            count *= len(alternatives)
    if count > MAX_CHOICES:
        message = f"{count} combinations of parallel degrees are open, more than the {MAX_CHOICES} that are tried"
        findings.append(error("PW121", next(iter(choices)), message, inner.span, help="leave fewer degrees open"))
    findings += misspelt_phases(inner, faulty, cluster)
    without_verdict = faulty.union(*(relation.components for relation in relations if not faulty.isdisjoint(relation.components)))
    missing = faulty - by_name.keys()
    relations = [relation for relation in relations if missing.isdisjoint(relation.components)]
    hinted_components = tuple(by_name.values())
    check_consistency(hinted_components, relations, choices, cluster, findings, further, without_verdict, without_division)
    return HintedComponents(hinted_components, tuple(relations), choices, frozenset(faulty))


def _component(form: ComponentForm, name: str, entry_of_name: Entry, cluster: Cluster, base: Component | None) -> Component:
    """Return a component built from hints. Raises UnusableInput for impossible hints."""
    value, spans = entry_of_name.value, dict[str, Span]()
    for entry in value if isinstance(value, MapNode) else ():
        spans[entry.key.text] = spans[_FIELDS.get(entry.key.text, entry.key.text)] = entry.value.span
    groups = base.node_groups if base and "node_group" not in spans else form.node_group
    if fault := _group_fault(form, name, groups, cluster, spans.get("node_group")):
        raise UnusableInput([fault])
    for counts_asked in (form.accelerators, form.processes):
        if counts_asked and counts_asked[-1][1] >= UNBOUNDED:
            message = f"`{name}` asks for {counts_asked[-1][1]:,}, more than {UNBOUNDED - 1:,}, the most that is read"
            raise UnusableInput([error("PW121", name, message, spans.get("amount"), label="too many", help="ask for less")])
    per_process, lower, upper, counts = amount(form, name, cluster.kind(groups) == NODE, spans.get("amount", value.span))
    available = min(upper, _room(cluster, groups))
    if lower != available and any(row.accelerators is None for row in form.seconds or ()):
        noun = "accelerators" if cluster.kind(groups) == ACCELERATOR else "processes"
        first = counts[0] if counts else (lower, available)
        seconds = find(value, "seconds") or value
        raise UnusableInput(missing_counts(name, seconds, noun, example(*first, form.parallel.choices[0].replica)))
    if (times := build_times(form, lower)) and (clash := duplicate_time(times)):
        message = f"`{name}` has two times for {clash}"
        raise UnusableInput([error("PW121", name, message, spans["timed"], label="which?", help="write one of them, such as their mean")])
    if base and "amount" not in spans:
        lower, upper, counts = base.least, base.most, base.counts
        per_process = per_process if form.accelerators_per_process else base.per_process
    changes: dict[str, Any] = {field: getattr(form, field) for field in _SAME & spans.keys()}
    changes |= {field: _READ[field](form) for field in _READ.keys() & spans.keys()}
    changes |= locality_fields(form, name, value, cluster)
    changes |= {"timed": times} if "timed" in spans else {}
    if form.seconds and not form.phase:  # the times name the phases
        changes["phases"] = tuple(dict.fromkeys(row.phase for row in form.seconds if row.phase))
    if "estimate" in spans and (place := find(value, "estimate.shards")):
        spans["shards"] = place.span
    spans = {"name": entry_of_name.key.span, **(base.spans if base else {}), **spans}
    changes |= {"node_groups": groups, "least": lower, "most": upper, "counts": counts, "per_process": per_process, "spans": spans}
    component = replace(base, **changes) if base else Component(name, **{"role": name if name in ROLES else "", **changes})
    if impossible := explain_unlikely(component):
        place = find(value, f"estimate.{impossible[1]}")
        raise UnusableInput([error("PW121", name, impossible[0], place.span if place else spans["estimate"], help=impossible[2])])
    return component


_READ: Mapping[str, Callable[[ComponentForm], Any]] = {
    "role": lambda form: form.role or "",
    "parallel": lambda form: form.parallel.choices[0],
    "cpus": lambda form: form.cpus or 0,
    "phases": lambda form: form.phase,
    "accelerator_model": lambda form: form.accelerator or "",
    "estimate": lambda form: form.estimate.estimate() if form.estimate else None,
}
"""Field of a Component -> value in hints; unwritten fields keep their value."""
_SAME = frozenset({"memory", "offloaded", "host_memory", "traffic", "contiguous", "any_order", "stride"})
"""Further fields, which hints state as they are."""


def _room(cluster: Cluster, groups: tuple[str, ...]) -> int:
    """Return the resources of node groups; unbounded if unknown, or for processes on nodes."""
    kind = cluster.kind(groups)
    if kind == NODE or not cluster.counted:
        return UNBOUNDED
    if len(groups) == 1:
        return cluster.numbering(groups).size
    return sum(stretch.node.count(kind) * len(among) for stretch, among in cluster.alike_among(sorted(cluster.members(groups))))


def _group_fault(form: ComponentForm, name: str, groups: tuple[str, ...], cluster: Cluster, span: Span | None) -> Finding | None:
    """Return why the groups are unknown, or cannot be searched together for a component."""
    if strange := next((label for label in groups if label not in cluster.groups), ""):
        exist, message = ", ".join(f"`{group}`" for group in cluster.groups), f"`{name}` names node group `{strange}`, which does not exist"
        return error("PW107", name, message, span, label="not declared", help=f"write one of {exist}")
    if len(groups) == 1:
        return None
    kinds = dict.fromkeys(cluster.groups[label].kind for label in groups)
    nodes = [rank for label in groups for rank in cluster.groups[label].node_ranks]
    if len(set(groups)) < len(groups):
        return error("PW121", name, f"`{name}` names node group `{groups[0]}` twice", span, help="name each group once")
    if len(kinds) > 1:
        message = f"`{name}` may be on groups that number {' and '.join(f'{kind}s' for kind in kinds)}"
    elif form.contiguous and len(set(nodes)) < len(nodes):
        message = f"`{name}` is contiguous over groups that share nodes, so these are numbered twice"
    else:
        return None
    return error("PW121", name, message, span, help="name groups that go together")
