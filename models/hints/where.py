"""Locality hints of a component: keep, spread, pin and exclude, with their places."""

from __future__ import annotations

from typing import Iterator

from ..component import BETWEEN_DOMAINS, KEYS, Relation
from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..locality import EP, KEPT, TP, WHOLE, Keep, Pin, Spread
from ..machines.cluster import Cluster
from ..ranks import CODES_BY_REASON, RankError, parse_ranks
from ..text.edit import in_flow_map
from ..text.nearest import nearest
from ..text.tree import ListNode, Value, find
from .forms import ComponentForm
from .locality import RACK, OtherForm

Fields = dict[str, object]


def locality_fields(form: ComponentForm, name: str, value: Value, cluster: Cluster) -> Fields:
    """Return the component fields of the locality hints.

    Raises UnusableInput with every fault.
    """
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
    for kind, key in KEYS.items():
        for position, target in enumerate(getattr(form, key)):
            span = _entry(value, key, position).span
            if isinstance(target, OtherForm):
                yield Relation(kind, (name, target.component), span, level=target.level)
            else:
                yield Relation(kind, (name, target), span, level=RACK if kind in BETWEEN_DOMAINS else "")


def _entry(value: Value, key: str, position: int) -> Value:
    """Return the text at a position of a list, or the single value."""
    written = find(value, key) or value
    return written.items[position] if isinstance(written, ListNode) else written


def _keeps(form: ComponentForm, name: str, value: Value, findings: list[Finding]) -> Iterator[Keep]:
    for unit in KEPT:
        for position, spec in enumerate(getattr(form.keep, unit)):
            written = _entry(value, f"keep.{unit}", position)
            keep = (
                Keep(unit, spec, span=written.span)
                if isinstance(spec, str)
                else Keep(unit, spec.level, spec.domains, spec.required, written.span)
            )
            if keep.domains == 1 or unit == WHOLE:
                yield keep
                continue
            noun = {TP: "a tp group", EP: "an ep group"}.get(unit, "a replica")
            message = f"`keep` lets {noun} of `{name}` lie in {keep.domains} domains, which only the whole component can"
            place = find(written, "domains") or written
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
        written = _entry(value, "pin", position)
        nodes = _nodes(spec.nodes, name, find(written, "nodes") or written, "nodes", cluster, findings)
        place = find(written, "ranks") or written
        try:
            ranges = parse_ranks(spec.ranks, None, "process").ranges
        except RankError as problem:
            findings.append(_fault(problem, name, "ranks", spec.ranks, place.span))
            continue
        if not ranges or not nodes:
            key = "nodes" if ranges else "ranks"
            span = (find(written, key) or written).span
            findings.append(error("PW112", name, f"`{key}` of a pin of `{name}` names nothing", span, help="write numbers such as `0-7`"))
        for ranks in ranges if nodes else ():
            yield Pin(ranks, nodes, written.span)


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
            if item.strip() in names:
                ranks.add(names[item.strip()])
            else:
                findings.append(_unknown_node(item.strip(), names, name, key, span, alone=item == text))
    return tuple(sorted(ranks))


_RANKS = frozenset("0123456789-, ")


def _unknown_node(item: str, names: dict[str, int], name: str, key: str, span: Span, alone: bool) -> Finding:
    close = nearest(item, names)
    edit = Edit(span, in_flow_map(close)) if close and alone else None
    advice = f"write `{close}`" if close else "write the rank of a node such as `0`, several such as `0-3`, or a node's name"
    message = f"`{key}` of `{name}` names `{item[:60]}`, which is no node"
    return error("PW102", name, message, span, label="not a node", help=advice, edit=edit)


def _fault(problem: RankError, name: str, key: str, text: str, span: Span) -> Finding:
    better = problem.replacement if problem.replacement and "," not in text else None
    edit = Edit(span, in_flow_map(better)) if better else None
    advice = f"write `{better}`" if better else "write ranks such as `0-7`"
    message = f"`{key}` of `{name}`: {problem}"
    return error(CODES_BY_REASON[problem.reason], name, message, span, label=problem.label, help=advice, edit=edit)
