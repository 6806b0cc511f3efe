"""Commas in a flow map: `{actor: 0,1}` is `actor: 0` and a key `1` without a value, which is hardly ever meant."""

from __future__ import annotations

import re
from dataclasses import replace

from ....configuration.notes import Notes
from ....findings.span import Edit, Span
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping, Scalar

KEYS = ("node_group", "placement")
"""What the placement of a component may hold."""

_RANKS = re.compile(r"\s*(?:all|[0-9][0-9 :_-]*)\s*", re.ASCII | re.IGNORECASE)


def split_by_commas(notes: Notes, value: Mapping, component: str = "") -> Mapping:
    """The map as it was meant, each such place noted.

    As `component_placement` itself, RLinf refuses the key without a value; as the placement of one `component` it ignores
    it silently, and so the meant value is not taken.
    """
    if not value.flow:
        return value
    entries = [entry if component else _with_colon(notes, entry) for entry in value.entries]
    meant: list[Entry] = []
    while entries:
        entry = entries.pop(0)
        tail: list[Entry] = []
        if not isinstance(entry.value, Scalar) or notes.is_bare(entry):
            names = [entry] if notes.is_bare(entry) and not component else []
            while names and entries and notes.is_bare(entries[0]):
                names.append(entries.pop(0))
            if names and entries and not _RANKS.fullmatch(entry.key.text) and isinstance(entries[0].key, Scalar):
                meant.append(_named(notes, [each.key for each in names], entries.pop(0)))
            else:
                meant += names or [entry]
            continue
        while entries and notes.is_bare(entries[0]) and (_goes_on(entries[0]) if component else _RANKS.fullmatch(entries[0].key.text)):
            tail.append(entries.pop(0))
        meant.append(_valued(notes, entry, tail, component) if tail else entry)
    return Mapping(tuple(meant), value.span, value.flow)


def _with_colon(notes: Notes, entry: Entry) -> Entry:
    """`{actor 0-7}` is a component of the name `actor 0-7` without a placement."""
    name, _, ranks = entry.key.text.rpartition(" ")
    if not name or not _RANKS.fullmatch(ranks) or not notes.is_bare(entry):
        return entry
    message = f"`{entry.key.text}` has no colon: RLinf takes all of it for the name of a component without a placement"
    edit = notes.renamed(entry, f"{name}: {ranks}")
    notes.error("PW118", name, message, entry.key.span, "no colon", f"write `{name}: {ranks}`", edit)
    text = Scalar(ranks, "tag:yaml.org,2002:str", entry.key.span, entry.key.span)
    return Entry(replace(entry.key, text=name), text)


def _goes_on(entry: Entry) -> bool:
    """Could it be ranks or a label, rather than a key and its value without the colon between them?"""
    return nearest(entry.key.text.partition(" ")[0], KEYS) is None


def _valued(notes: Notes, entry: Entry, tail: list[Entry], component: str) -> Entry:
    """`actor: 0,1`: the value goes on after the comma."""
    first = entry.value
    text = ",".join([first.text if isinstance(first, Scalar) else "", *(each.key.text for each in tail)])
    span = _from_to(first.span, tail[-1].key.span)
    edit = Edit(span, f'"{text}"')
    keys = ", ".join(f"`{each.key.text}`" for each in tail)
    if component:
        message = f"the comma ends `{entry.key.text}` here: RLinf takes {keys} for a key of its own, and ignores it silently"
        notes.warn("PW118", component, message, span, "not one value", f'write "{text}" in quotes', edit)
        return entry
    message = f"the comma ends the value here: RLinf takes {keys} for a component without a placement"
    notes.error("PW118", entry.key.text, message, span, "not one value", f'write "{text}" in quotes', edit)
    return Entry(entry.key, Scalar(text, "tag:yaml.org,2002:str", span, span))


def _named(notes: Notes, names: list[Scalar], last: Entry) -> Entry:
    """`actor,rollout: 0-7`: the key began before the comma."""
    text = ",".join([*(name.text for name in names), last.key.text])
    span = _from_to(names[0].span, last.key.span)
    listed = ", ".join(f"`{name.text}`" for name in names)
    message = f"the comma ends the key here: RLinf takes {listed} for a component without a placement"
    notes.error("PW118", names[0].text, message, span, "not one key", f'write "{text}" in quotes', Edit(span, f'"{text}"'))
    return Entry(Scalar(text, "tag:yaml.org,2002:str", span, span), last.value)


def _from_to(first: Span, last: Span) -> Span:
    return Span(first.file, first.start, last.end, first.line, first.column)
