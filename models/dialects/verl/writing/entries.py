"""Edits that give keys of a configuration their numbers: those that are written anew, and those that stand nowhere yet."""

from __future__ import annotations

from typing import Mapping as MappingType
from typing import Union

from ....findings.finding import UnusableInput, error
from ....findings.span import Edit
from ....text.reshape import with_entry
from ....text.source import Source
from ....text.splice import at_line_end, line_end
from ....text.tree import Mapping, Scalar

Tree = dict[str, Union[int, "Tree"]]


def instead(key: str, here: Scalar, value: int) -> list[Edit]:
    """The edit of a number that is written; none where it is that one. Raises UnusableInput where it comes through an interpolation."""
    if here.value == value:
        return []
    if here.origin is not None:
        raise refused(key, f"`{key}` is written through an interpolation")
    return [Edit(here.span, str(value))]


def added(source: Source, numbers: MappingType[str, int]) -> list[Edit]:
    """The edits that put keys where they belong: into the sections that the text has, and sections of their own for the others.

    Raises UnusableInput where a section is none, or has no place for more.
    """
    return _into(source, source.root, _tree(numbers), "")


def _tree(numbers: MappingType[str, int]) -> Tree:
    """Dotted keys as maps in maps; none of them lies below another."""
    found: Tree = {}
    below: dict[str, dict[str, int]] = {}
    for key, value in numbers.items():
        name, _, rest = key.partition(".")
        if rest:
            below.setdefault(name, {})[rest] = value
            found.setdefault(name, {})
        else:
            found[name] = value
    return {name: _tree(below[name]) if name in below else value for name, value in found.items()}


def _into(source: Source, section: Mapping, tree: Tree, path: str) -> list[Edit]:
    edits, new = list[Edit](), list[str]()
    for name, value in tree.items():
        key, here = f"{path}{name}", section.get(name)
        if isinstance(here, Mapping) and isinstance(value, dict):
            edits += _into(source, here, value, f"{key}.")
        elif here is not None:
            raise refused(key, f"`{key}` is no section that could be added to")
        elif section is source.root and not section.flow:
            new.append(f"{name}: {_text(value)}")
        else:
            edit = with_entry(source.text, section, name, _text(value))
            if edit is None:
                raise refused(key, f"`{key}` has no place in its section")
            edits.append(edit)
    end = line_end(source)
    return edits + ([at_line_end(source, len(source.text), "".join(f"{end}{line}" for line in new))] if new else [])


def _text(value: int | Tree) -> str:
    if isinstance(value, int):
        return str(value)
    return "{" + ", ".join(f"{name}: {_text(inner)}" for name, inner in value.items()) + "}"


def refused(name: str, why: str) -> UnusableInput:
    """Why the answer cannot be written (PW603)."""
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
