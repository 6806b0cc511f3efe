"""Sections that are lists of maps: every entry against its form, faults at their places."""

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
    """Every entry of a section that has the right form, with what is written of it."""
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
    """The span of what an entry holds at a dotted path; that of the entry where there is nothing."""
    found = find(item, path)
    return found.span if found else item.span


def unknown(section: str, name: str, names: Collection[str], span: Span) -> Finding:
    """An entry names what is no component."""
    close = nearest(name, names)
    edit = Edit(span, in_flow_map(close)) if close else None
    advice = f"write `{close}`" if close else "name one of " + ", ".join(f"`{each}`" for each in names)
    return error(
        "PW121", name, f"`{section}` names `{name[:60]}`, which is no component", span, label="not a component", help=advice, edit=edit
    )
