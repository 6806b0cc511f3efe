"""Which values of a file may be others where a number of it is another one, as interpolations refer to it, one through another."""

from __future__ import annotations

from typing import Iterable, Iterator

from ....text.interpolation_text import BadInterpolation, Call, Part, Reference, holds_interpolation, split
from ....text.tree import Mapping, Scalar, Sequence, Value

Path = tuple[str, ...]
SELECT = "oc.select"
"""The resolver whose first argument is a key."""


def following_keys(root: Value, keys: Iterable[str]) -> frozenset[str]:
    """The keys of all scalars that refer to one of these, or to one that does; one whose reference cannot be told may refer to any."""
    leaves = [(path, list(_references(leaf.text, path))) for path, leaf in _leaves(root, ()) if holds_interpolation(leaf.text)]
    changed = [tuple(key.split(".")) for key in keys if key]
    found = set[Path]()
    while new := [path for path, refers in leaves if path not in found and any(_meets(its, changed) for its in refers)]:
        found.update(new)
        changed += new
    return frozenset(".".join(path) for path in found)


def _meets(reference: Path | None, changed: Iterable[Path]) -> bool:
    """Does a reference lead to one of these, to what holds it, or to what may stand below it? None leads anywhere."""
    return reference is None or any(each[: len(reference)] == reference[: len(each)] for each in changed)


def _leaves(value: Value, path: Path) -> Iterator[tuple[Path, Scalar]]:
    if isinstance(value, Scalar):
        yield path, value
    elif isinstance(value, Mapping):
        for entry in value:
            yield from _leaves(entry.value, (*path, entry.key.text))
    elif isinstance(value, Sequence):
        for position, item in enumerate(value.items):
            yield from _leaves(item, (*path, str(position)))


def _references(text: str, path: Path) -> Iterator[Path | None]:
    try:
        yield from _of_parts(split(text), path)
    except BadInterpolation:
        yield None


def _of_parts(parts: Iterable[Part], path: Path) -> Iterator[Path | None]:
    for part in parts:
        if isinstance(part, Reference):
            yield _path(part.parts, path)
        elif isinstance(part, Call):
            if part.name == SELECT and part.arguments:
                yield _path(part.arguments[0], path)
            for its in part.arguments:
                yield from _of_parts(its, path)


def _path(parts: tuple[Part, ...], path: Path) -> Path | None:
    """Where a reference leads; None where that depends on other values. Leading dots count from what holds the value."""
    if len(parts) != 1 or not isinstance(parts[0], str):
        return None
    keys = parts[0].lstrip(".")
    dots = len(parts[0]) - len(keys)
    return (*(path[: len(path) - dots] if dots else ()), *(key for key in keys.replace("[", ".").replace("]", "").split(".") if key))
