"""Sections `relations`, `links` and `objective`."""

from __future__ import annotations

from typing import Collection, Iterator, TypeVar

from ..component import BETWEEN_DOMAINS, IN_ORDER, RELATION_KINDS, Relation
from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Span
from ..job import LEXICOGRAPHIC, ORDERS, WEIGHTED, Link, Preference
from ..machines.topology import LEVELS
from ..text.edit import correct_name
from ..text.form import Form, fill, form_of, key, list_of
from ..text.tree import UNRESOLVED, Entry, ListNode, MapNode, Scalar, Value, find, kind_of, leaves
from ..text.values import Count, Index, Mebibytes, OneOfValues, Word, word_or_map
from .forms import RACK, Domain

AnyForm = TypeVar("AnyForm", bound=Form)


def entries(
    form: type[AnyForm], items: Value | None, section: str, example: str, findings: list[Finding]
) -> Iterator[tuple[AnyForm, Value]]:
    """Yield the well-formed entries of a section with their text."""
    if items is None:
        return
    if not isinstance(items, ListNode):
        message = f"`{section}` is {kind_of(items)}, not a list"
        findings.append(error("PW105", "", message, items.span, label=kind_of(items), help=f"write `{section}: [{example}]`"))
        return
    for position, item in enumerate(items.items):
        if fault := find_unresolved(item, f"`{section}.{position}` needs"):
            findings.append(fault)
            continue
        try:
            yield fill(form, item, "", f"`{section}.{position}`"), item
        except UnusableInput as problem:
            findings += problem.findings


def find_unresolved(value: Value, needing: str, subject: str = "") -> Finding | None:
    """Return the fault of text (`needing`: its subject and verb) with an interpolation left open."""
    scalar = next((leaf for leaf in leaves(value) if leaf.tag == UNRESOLVED), None)
    message = f"{needing} a value that is not known here: `{scalar.text}`" if scalar else ""
    return error("PW120", subject, message, scalar.span, help="write the value") if scalar else None


def span_in(item: Value, path: str) -> Span:
    """Return the place of an entry's value at a dotted path, else of the entry."""
    value = find(item, path)
    return value.span if value else item.span


def unknown(section: str, name: str, names: Collection[str], span: Span) -> Finding:
    """Return the fault of an entry that names an unknown component."""
    advice, edit = correct_name(name, names, span, "name one of " + ", ".join(f"`{candidate}`" for candidate in names))
    message = f"`{section}` names `{name[:60]}`, which is not a component"
    return error("PW121", name, message, span, label="not a component", help=advice, edit=edit)


_Order = OneOfValues("order", ORDERS)
MAX_RELATED = 256
_Kind = OneOfValues("kind of relation", RELATION_KINDS)


class WeightsForm(Form):
    """Cost of a MiB across each level of the topology in the weighted sum."""

    zone = key(Index, default=1, description="a whole number such as `100`")
    rack = key(Index, default=1, description="a whole number such as `10`")
    nvlink_domain = key(Index, default=1, description="a whole number such as `1`")


class ObjectiveForm(Form):
    """Comparison of bytes at different levels of the topology."""

    order = key(
        _Order,
        default=None,
        description=f"`{LEXICOGRAPHIC}`: the widest level first; `{WEIGHTED}`: all levels in one sum, the default with `weights`",
    )
    weights = key(form_of(WeightsForm), default=None, description="a map such as `{rack: 10, nvlink_domain: 1}`")


Objective = word_or_map(_Order, ObjectiveForm)


def read_preference(value: Value | None, findings: list[Finding], key: str = "objective") -> Preference:
    """Return the preference of the key; the default if missing or, with findings, faulty."""
    if value is None:
        return Preference()
    if fault := find_unresolved(value, f"`{key}` needs"):
        findings.append(fault)
        return Preference()
    preference = MapNode((Entry(Scalar("order", "", value.span), value),), value.span) if isinstance(value, Scalar) else value
    try:
        form = fill(ObjectiveForm, preference, "", f"`{key}`")
    except UnusableInput as problem:
        findings += problem.findings
        return Preference()
    weights = {level: getattr(form.weights, level) for level in LEVELS if form.weights and level in form.weights.written_keys}
    order = form.order or (WEIGHTED if weights else LEXICOGRAPHIC)
    if weights and order != WEIGHTED:
        message, help_text = f"weights count in one sum, but the order is `{order}`", "write `order: weighted`, or drop them"
        findings.append(error("PW121", "", message, span_in(value, "weights"), label="not used", help=help_text))
    return Preference(order, weights)


class RelationForm(Form):
    """Relation between components; do not repeat relations in the components' own keys.

    `colocated`: exactly the same accelerators. `disjoint`: none in common. `colocated or disjoint`: one of the two. `subset`:
    the first uses only what the second uses. `in order`: each a solid range, one after the other, over the whole cluster.
    `not fewer`: the first has at least as many processes as the second. `apart`: no domain of a level of the topology holds some
    of both. `near`: every domain that holds some of the first holds some of the second. `rank aligned`: the same accelerators in
    the same order of ranks. `zero copy`: the same accelerators, so that the second finds its part of the weights of the first at home.
    """

    kind = key(_Kind)
    components = key(list_of(Word, 2, MAX_RELATED), description=f"two names such as `[actor, rollout]`; for `{IN_ORDER}` two or more")
    level = key(Domain, default=None, description="of `apart` and `near`, whose domains are compared: a level such as `rack`")
    reason = key(Word, default="", description="who demands it, such as `RLinf's auto mode`")


class LinkForm(Form):
    """Traffic from a component to another in every step."""

    source = key(Word, name_in_file="from", description="the name of the component that sends, such as `actor`")
    target = key(Word, name_in_file="to", description="the name of the component that receives, such as `rollout`")
    weights = key(
        Mebibytes, default=0, title="what each domain is sent that holds some of the target and none of the source",
        description="an amount such as `16GiB`",
    )  # fmt: skip
    stream = key(
        Mebibytes,
        default=0,
        title="what crosses for each accelerator of the target that no accelerator of the source serves in its own domain",
        description="an amount such as `1MiB`",
    )
    ratio = key(Count, default=1, description="how many accelerators of the target one of the source serves, such as `1`")


def read_relations(value: Value | None, names: Collection[str], findings: list[Finding], section: str = "relations") -> Iterator[Relation]:
    """Yield the relations of the section; `names` are the components of the file."""
    for form, item in entries(RelationForm, value, section, "{kind: disjoint, components: [actor, rollout]}", findings):
        spans = [span_in(item, f"components.{position}") for position in range(len(form.components))]
        strange = [position for position, name in enumerate(form.components) if name not in names]
        findings += [unknown(section, form.components[position], names, spans[position]) for position in strange]
        if len(form.components) > 2 and form.kind != IN_ORDER:
            message = f"`{form.kind}` holds between two components, not {len(form.components)}"
            findings.append(error("PW105", "", message, span_in(item, "components"), help="write one relation for each two"))
        elif form.level and form.kind not in BETWEEN_DOMAINS:
            message = f"`{form.kind}` holds between accelerators, so that it has no `level`"
            findings.append(error("PW121", "", message, span_in(item, "level"), label="has no meaning", help="drop `level`"))
        elif not strange:
            level = (form.level or RACK) if form.kind in BETWEEN_DOMAINS else ""
            yield Relation(form.kind, form.components, item.span, form.reason, level=level)


def read_links(value: Value | None, names: Collection[str], findings: list[Finding], section: str = "links") -> Iterator[Link]:
    """Yield the links of the section; `names` are the components of the file."""
    linked_pairs: set[tuple[str, str]] = set()
    for form, item in entries(LinkForm, value, section, "{from: actor, to: rollout, weights: 16GiB}", findings):
        strange = [(name, key) for name, key in ((form.source, "from"), (form.target, "to")) if name not in names]
        findings += [unknown(section, name, names, span_in(item, key)) for name, key in strange]
        if strange:
            continue
        if form.source == form.target:
            message, help_text = f"`{form.source}` is linked to itself", f"write it as `traffic:` of `{form.source}`"
            findings.append(error("PW121", form.source, message, span_in(item, "to"), help=help_text))
        elif (form.source, form.target) in linked_pairs:
            message = f"the link from `{form.source}` to `{form.target}` is written twice"
            findings.append(error("PW121", form.source, message, item.span, label="again", help="write both amounts in one link"))
        elif not form.weights and not form.stream:
            message = f"the link from `{form.source}` to `{form.target}` carries nothing"
            findings.append(error("PW101", form.source, message, item.span, label="no amount", help="add `weights:` or `stream:`"))
        else:
            linked_pairs.add((form.source, form.target))
            yield Link(form.source, form.target, form.weights, form.stream, form.ratio, item.span)
