"""Commas in a flow map: `{device_mapping: list(range(0,8))}` is a `device_mapping: list(range(0` and a key `8))` without a value."""

from __future__ import annotations

from ....configuration.notes import Notes
from ....findings.span import Edit, Span
from ....text.tree import Entry, Mapping, Scalar
from ..mapping.device_mapping import KEY
from ..mapping.evaluate import AT_LOAD
from ..recognise import is_worker
from ..roles.parts import REWARDS, TEACHERS

CODE = "PW118"
_STR = "tag:yaml.org,2002:str"


def with_commas(notes: Notes, root: Mapping) -> Mapping:
    """The root with every `device_mapping` as it was meant; a finding for each that a comma ends."""
    entries = []
    for entry in root:
        inner = entry.value
        if isinstance(inner, Mapping) and is_worker(inner, KEY):
            entry = Entry(entry.key, _joined(notes, inner, entry.key.text))
        elif isinstance(inner, Mapping) and entry.key.text in (REWARDS, TEACHERS):
            blocks = [
                Entry(each.key, _joined(notes, each.value, f"{entry.key.text}.{each.key.text}"))
                if isinstance(each.value, Mapping)
                else each
                for each in inner
            ]
            if any(new is not old for new, old in zip(blocks, inner)):
                entry = Entry(entry.key, Mapping(tuple(blocks), inner.span, inner.flow))
        entries.append(entry)
    return Mapping(tuple(entries), root.span, root.flow)


def _joined(notes: Notes, block: Mapping, subject: str) -> Mapping:
    """The block whose `device_mapping` goes on until its brackets are closed."""
    own = block.entry(KEY) if block.flow else None
    if own is None or not isinstance(own.value, Scalar) or own.value.value != own.value.text:
        return block
    source = notes.document.text_of(own.value.span.file)
    start = own.value.span
    if source[start.start : start.end] != own.value.text or not _is_open(own.value.text):
        return block
    at = block.entries.index(own) + 1
    stop = at
    while (
        stop < len(block.entries) and notes.is_bare(block.entries[stop]) and _is_open(source[start.start : _end(block.entries[stop - 1])])
    ):
        stop += 1
    span = Span(start.file, start.start, _end(block.entries[stop - 1]), start.line, start.column)
    text = source[span.start : span.end]
    if stop == at or _is_open(text):
        return block
    keys = ", ".join(f"`{each.key.text}`" for each in block.entries[at:stop])
    message = f"the comma ends `{KEY}` of `{subject}` here: ROLL gets `{own.value.text}`, which is no Python expression, and a key {keys}"
    notes.error(CODE, subject, message, span, "not one value", f'write "{text}" in quotes', Edit(span, f'"{text}"'), AT_LOAD)
    meant = Scalar(text, _STR, span, span)  # with an origin, so that no other edit is made in it before it has its quotes
    return Mapping((*block.entries[: at - 1], Entry(own.key, meant), *block.entries[stop:]), block.span, block.flow)


def _end(entry: Entry) -> int:
    return entry.value.span.end if isinstance(entry.value, Scalar) and entry.value.span.length else entry.key.span.end


def _is_open(text: str) -> bool:
    """Are there brackets that are not closed?"""
    return sum(map(text.count, "([")) > sum(map(text.count, ")]"))
