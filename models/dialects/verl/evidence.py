"""Which releases of verl know what a document shows: its program, its configuration, its keys, the options and values that it takes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Iterator, Mapping, Sequence

from ...releases.choice import Choice, newest
from ...releases.evidence import by_masks
from ...text.document import Document
from ...text.setting import Kind as Mark
from ...text.tree import Mapping as Tree
from ...text.tree import Scalar, find
from .defaults import chosen_in, configuration_of
from .programs import FOLDER, configurations, entry_of_keys, named, names_in, releases, table


def shown(document: Document) -> Choice:
    """The newest release that nothing in a document excludes. Of a program that is not verl's, keys show nothing."""
    program = document.program
    entry = named(program.name) if program is not None and program.name else entry_of_keys(document.root, document.source.name)
    if entry is None:
        return newest(table())
    known: dict[str, int] = {}
    if program is not None and (names := names_in(program.name)):
        known[program.name] = names
    name = configuration_of(document, entry)
    if name:
        known[name] = configurations().mask(name)
        known.update(_of_settings(document, name) if document.settings else _of_keys(document.root, name))
    known.update(_of_values(document.root))
    return by_masks(table(), {each: mask for each, mask in known.items() if mask})


def _of_settings(document: Document, name: str) -> Iterator[tuple[str, int]]:
    """What Hydra takes of a command line: keys that are there, and with `+` keys that are not."""
    known, every = configurations(), (1 << len(releases().names)) - 1
    for group, option in chosen_in(document, name):
        yield f"{group}={option}", known.option_in(name, group, option) if option is not None else 0
    seen = set[str]()
    for setting in document.settings:
        if "/" in setting.key or setting.package is not None or setting.key in seen:
            continue
        seen.add(setting.key)
        if setting.kind is Mark.CHANGE or setting.kind is Mark.DELETE:
            yield setting.key, known.known_in(name, setting.key)
        elif setting.kind is Mark.ADD and isinstance(setting.value, Scalar):  # Hydra adds it only where there is none
            yield f"+{setting.key}", every & ~known.valued_in(name, setting.key)


def _of_keys(root: Tree, name: str, path: str = "") -> Iterator[tuple[str, int]]:
    """The keys of a file: such as nobody wrote for a release that does not know them."""
    for entry in root:
        key = f"{path}.{entry.key.text}".lstrip(".")
        if isinstance(entry.value, Tree) and entry.value.entries:
            yield from _of_keys(entry.value, name, key)
        else:
            yield key, configurations().known_in(name, key)


def _of_values(root: Tree) -> Iterator[tuple[str, int]]:
    """Values that only some releases take."""
    for text, runs in _values().items():
        path, _, value = text.partition("=")
        here = find(root, path)
        if isinstance(here, Scalar) and here.text == value:
            yield text, releases().mask(runs)


@cache
def _values() -> Mapping[str, Sequence[Sequence[Any]]]:
    found: dict[str, Any] = json.loads((FOLDER / "evidence.json").read_text(encoding="utf-8"))
    return found
