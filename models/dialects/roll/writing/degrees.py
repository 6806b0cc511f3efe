"""Degrees that were chosen, into the strategy of their role."""

from __future__ import annotations

from ....component import Parallel
from ....findings.finding import UnusableInput, error
from ....findings.span import Edit
from ....text.reshape import with_entry
from ....text.source import Source
from ....text.tree import Mapping, Scalar, find
from ..planning.keys import KEYS, numbers
from ..roles.known_keys import PER_WORKER


def degrees_of(source: Source, role: str, parallel: Parallel) -> list[Edit]:
    """The edits that give a role these degrees. Raises UnusableInput (PW603) where its keys stand elsewhere."""
    values = numbers(source.root, role, parallel)
    if values is None:
        raise _refused(role, f"the strategy of `{role}` has no keys for {parallel}")
    edits, added = [], dict[str, dict[str, int]]()
    for key, value in values.items():
        here = find(source.root, f"{role}.{key}")
        if here is None:
            owner, _, last = f"{role}.{key}".rpartition(".")
            added.setdefault(owner, {})[last] = value
        elif not isinstance(here, Scalar):
            raise _refused(role, f"`{role}.{key}` is no number")
        elif here.value != value:
            edits.append(Edit(here.span, str(value)))
    return edits + [_into(source, role, owner, its) for owner, its in added.items()]


def _into(source: Source, role: str, path: str, values: dict[str, int]) -> Edit:
    """The numbers at the end of a map; a map of them where there is none."""
    owner = find(source.root, path)
    if owner is None:
        path, _, last = path.rpartition(".")
        owner, said = find(source.root, path), {last: _flow(values)}
    elif isinstance(owner, Mapping) and not owner.entries and source.text[owner.span.start : owner.span.end] == "{}":
        return Edit(owner.span, _flow(values))
    else:
        said = {key: str(value) for key, value in values.items()}
    found = [with_entry(source.text, owner, key, value) for key, value in said.items()] if isinstance(owner, Mapping) else []
    edits = [edit for edit in found if edit is not None]
    if not edits or len(edits) < len(said):
        raise _refused(role, f"`{path}` has no place for its degrees")
    return Edit(edits[0].span, "".join(edit.text for edit in edits))


def _flow(values: dict[str, int]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


def drop_degrees(root: object, role: str) -> None:
    """Takes the keys of degrees from the plain values of a role, and maps left empty by that."""
    for path in sorted({PER_WORKER, *(key for keys in KEYS.values() for key in keys.values())}):
        _drop(root, [*role.split("."), *path.split(".")])


def _drop(owner: object, path: list[str]) -> None:
    if not isinstance(owner, dict):
        return
    if len(path) > 1:
        _drop(owner.get(path[0]), path[1:])
    if len(path) == 1 or owner.get(path[0]) == {}:
        owner.pop(path[0], None)


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
