"""Sections that a framework does not read, and their keys that count machines or processes."""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Sequence

from ..configuration.notes import Notes
from ..findings.causes import meet
from ..findings.span import Span
from ..text.nearest import SLIP, closest
from ..text.tree import Entry, ListNode, MapNode, Scalar

_RANKS = ("placement", "device_mapping")
_COUNTS = re.compile(
    r"(\w+_)?[gn]pus|(n_?|num_|total_)?(gpus?|npus?|nodes?|nnodes|accelerators?|processes|devices?)(_per_[a-z]+|_count)?|world_size|nproc_per_node"
    r"|tensor(_model)?_parallel_size|tp_size|" + "|".join(_RANKS)
)
_MOST_NAMED = 4
"""Maximum number of keys that a reason lists."""


def counting_keys(entry: Entry, path: str) -> Iterator[tuple[str, Span]]:
    """Yield (path, place) of the keys at or below an entry that count something.

    ROLL's own roles, maps with `device_mapping`, are reported with the choice of the dialect.
    """
    value = entry.value
    if isinstance(value, MapNode):
        for inner in value:
            yield from counting_keys(inner, f"{path}.{inner.key.text}")
    elif isinstance(value, ListNode):
        for index, item in enumerate(value.items):
            for inner in item if isinstance(item, MapNode) else ():
                yield from counting_keys(inner, f"{path}.{index}.{inner.key.text}")
    elif isinstance(value, Scalar) and _COUNTS.fullmatch(entry.key.text):
        number, is_role = value.value, entry.key.text == "device_mapping" and path.count(".") == 1
        if (type(number) is int and number > 0) or (entry.key.text in _RANKS and not is_role):
            yield path, value.span


def has_foreign_section(root: MapNode, known_names: Sequence[str]) -> bool:
    """Return True if a map at the top is of another program: unknown, and not misspelt."""
    names = [entry.key.text for entry in root if isinstance(entry.value, MapNode) and entry.key.text[:1].isalpha()]
    return any(name not in known_names and closest(name, known_names, SLIP) is None for name in names)


def report_unread(notes: Notes, code: str, keys: Iterable[tuple[str, Span]], place: str) -> None:
    """Note that keys of a section count machines, so that the verdict is incomplete.

    Values with other uses, by an alias or an interpolation, are read. `place` names the part of the
    file that could start what the section describes.
    """
    paths = [path for path, at in keys if not is_used(notes, path, at)]
    if not paths:
        return
    names = ", ".join(f"`{path}`" for path in paths[:_MOST_NAMED])
    verbs = ("counts", "is", "it", "it starts") if len(paths) == 1 else ("count", "are", "them", "they start")
    why = f"{names} {verbs[0]} machines or processes, and {verbs[1]} not read"
    add = f"Remove {names if len(paths) == 1 else verbs[2]}, or place what {verbs[3]} in {place}"
    notes.unsure(code, paths[0], why, True, add)


def is_used(notes: Notes, path: str, at: Span) -> bool:
    """Return True if an alias repeats a value, or an interpolation refers to it."""
    if any(meet(at, span) for span in notes.document.shared):
        return True
    text, names = notes.document.source.text, path.split(".")
    prefixes = (".".join(names[: end + 1]) for end in range(len(names)))
    return any(re.search(rf"\$\{{[^}}\n]*(?<![\w.]){re.escape(prefix)}\s*[,}}]", text) for prefix in prefixes) if "${" in text else False
