"""Entries of list sections, checked against a form."""

from __future__ import annotations

from typing import Collection, Iterator, TypeVar

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..text.edit import in_flow_map
from ..text.form import Form, fill
from ..text.nearest import nearest
from ..text.tree import ListNode, Value, find, kind_of, leaves
from ..text.unresolved import UNRESOLVED

AnyForm = TypeVar("AnyForm", bound=Form)


def entries(
    form: type[AnyForm], written: Value | None, section: str, example: str, findings: list[Finding]
) -> Iterator[tuple[AnyForm, Value]]:
    """Yield the well-formed entries of a section with their text."""
    if written is None:
        return
    if not isinstance(written, ListNode):
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


def span_in(item: Value, path: str) -> Span:
    """Return the place of an entry's value at a dotted path, else of the entry."""
    value = find(item, path)
    return value.span if value else item.span


def unknown(section: str, name: str, names: Collection[str], span: Span) -> Finding:
    """Return the fault of an entry that names an unknown component."""
    close = nearest(name, names)
    edit = Edit(span, in_flow_map(close)) if close else None
    advice = f"write `{close}`" if close else "name one of " + ", ".join(f"`{known}`" for known in names)
    return error(
        "PW121", name, f"`{section}` names `{name[:60]}`, which is no component", span, label="not a component", help=advice, edit=edit
    )
