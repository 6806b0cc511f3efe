"""The sections `relations` and `work` of a native file."""

from __future__ import annotations

from typing import Collection, Iterator, TypeVar

from pydantic import BaseModel

from ...component import IN_ORDER, Relation
from ...findings.finding import Finding, UnusableInput, error
from ...findings.span import Edit, Span
from ...share import Share
from ...text.forms import fill
from ...text.interpolation import UNRESOLVED
from ...text.nearest import nearest
from ...text.scalar_text import in_flow_map
from ...text.tree import Sequence, Value, find, kind_of, leaves
from .form import RelationForm, WorkForm

Form = TypeVar("Form", bound=BaseModel)


def read_relations(written: Value | None, names: Collection[str], findings: list[Finding]) -> Iterator[Relation]:
    """The relations of the section; `names` are the components that the file has."""
    for form, item in _forms(RelationForm, written, "relations", "{kind: disjoint, components: [actor, rollout]}", findings):
        spans = [_span(item, f"components.{position}") for position in range(len(form.components))]
        unknown = [position for position, name in enumerate(form.components) if name not in names]
        findings += [_unknown("relations", form.components[position], names, spans[position]) for position in unknown]
        if len(form.components) > 2 and form.kind != IN_ORDER:
            message = f"`{form.kind}` holds between two components, not {len(form.components)}"
            findings.append(error("PW105", "", message, _span(item, "components"), help="write one relation for each two"))
        elif not unknown:
            yield Relation(form.kind, form.components, item.span, form.reason)


def read_work(written: Value | None, names: Collection[str], level: str, findings: list[Finding]) -> Iterator[Share]:
    """The shares of the section that this level judges."""
    for position, (form, item) in enumerate(
        _forms(WorkForm, written, "work", "{component: env, what: environments, amount: 512}", findings)
    ):
        if form.component not in names:
            findings.append(_unknown("work", form.component, names, _span(item, "component")))
        elif form.level == level or form.level == "placement":
            yield Share(
                form.component, form.amount, form.multiple, form.what, f"work.{position}.amount", "", _span(item, "amount"), form.reason,
                form.required,
            )  # fmt: skip


def _forms(form: type[Form], written: Value | None, section: str, example: str, findings: list[Finding]) -> Iterator[tuple[Form, Value]]:
    """Every entry of a section that has the right form, with what is written of it."""
    if written is None:
        return
    if not isinstance(written, Sequence):
        message = f"`{section}` is {kind_of(written)}, not a list"
        findings.append(error("PW105", "", message, written.span, label=kind_of(written), help=f"write `{section}: [{example}]`"))
        return
    for position, item in enumerate(written.items):
        if open_values := [value for value in leaves(item) if value.tag == UNRESOLVED]:
            message = f"`{section}.{position}` needs a value that is not known here: `{open_values[0].text}`"
            findings.append(error("PW120", "", message, open_values[0].span, help="write the value"))
            continue
        try:
            yield fill(form, item, "", f"`{section}.{position}`"), item
        except UnusableInput as problem:
            findings += problem.findings


def _span(item: Value, path: str) -> Span:
    found = find(item, path)
    return found.span if found else item.span


def _unknown(section: str, name: str, names: Collection[str], span: Span) -> Finding:
    close = nearest(name, names)
    edit = Edit(span, in_flow_map(close)) if close else None
    advice = f"write `{close}`" if close else "name one of " + ", ".join(f"`{each}`" for each in names)
    return error(
        "PW121", name, f"`{section}` names `{name[:60]}`, which is no component", span, label="not a component", help=advice, edit=edit
    )
