"""Degrees that were chosen among those of the hints, in these and in the keys by which RLinf runs a component."""

from __future__ import annotations

from ....component import Parallel
from ....findings.finding import UnusableInput, error
from ....findings.span import Edit
from ....hints.block import COMPONENTS, NAME
from ....hints.degrees import KEY
from ....hints.degrees import degrees_of as in_hints
from ....text.reshape import with_entry
from ....text.source import Source
from ....text.tree import Mapping, Scalar, find
from ..modes.degrees import SECTIONS


def degrees_of(source: Source, name: str, parallel: Parallel) -> list[Edit]:
    """The edits that give a component these degrees. Raises UnusableInput (PW603) where its keys have no place in the file."""
    hints = find(source.root.get(NAME), COMPONENTS)
    mine = hints.get(name) if isinstance(hints, Mapping) else None
    edits = in_hints(source, mine, parallel) if isinstance(mine, Mapping) else []
    path, keys = SECTIONS.get(name, ("", {}))
    section = find(source.root, path) if path else None
    added = []
    for degree, key in keys.items() if isinstance(section, Mapping) else ():
        value, here = getattr(parallel, degree), section.get(key) if isinstance(section, Mapping) else None
        if here is not None and not isinstance(here, Scalar):
            raise _refused(name, f"`{path}.{key}` is no number")
        if here is not None and here.value != value:
            edits.append(Edit(here.span, str(value)))
        elif here is None and value > 1 and isinstance(section, Mapping):
            entry = with_entry(source.text, section, key, str(value))
            if entry is None:
                raise _refused(name, f"`{path}` has no place for `{key}`")
            added.append(entry)
    return edits + added


def restored(after: object, before: object, name: str) -> None:
    """Gives plain values the degrees of a component that they had `before`."""
    path, keys = SECTIONS.get(name, ("", {}))
    for owner, key in ((f"{NAME}.{COMPONENTS}.{name}", KEY), *((path, key) for key in keys.values())):
        now, was = _at(after, owner), _at(before, owner)
        if now is not None and was is not None:
            now.pop(key, None)
            if key in was:
                now[key] = was[key]


def _at(root: object, path: str) -> dict[str, object] | None:
    for name in path.split("."):
        root = root.get(name) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else None


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
