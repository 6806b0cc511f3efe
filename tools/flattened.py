"""Configurations of a checkout, composed as by Hydra and flattened to dotted keys."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any, Collection, Iterator, Sequence

from ..models.composition import Composer
from ..models.composition.composed import Walk
from ..models.composition.places import Library, SearchPath, part_of, read_search_path
from ..models.findings.finding import Severity, UnusableInput
from ..models.releases.release import UNSTORED_VALUE
from ..models.text.environment import Environment
from ..models.text.source import Source
from ..models.text.tree import MapNode, Scalar, Value, find

LONGEST = 80
"""Maximal length of stored texts.

Longer texts, and absolute paths, are no defaults that a check reads; only their keys are stored.
"""

MARKS = ("trainer.", "data.", "rollout.")
"""Prefixes of a main configuration's keys; other files are parts, or belong to tools."""


@dataclass
class Flat:
    """Configuration of a release.

    Attributes
    ----------
    keys : dotted key -> value; UNSAID for lists and long texts, an empty map for an empty map.
    made : option of each group, by the key that a command line chooses it with.
    options : the configuration with another single option, by ``group=option``.
    path : file below the checkout.
    """

    keys: dict[str, Any]
    made: dict[str, str]
    path: str
    options: dict[str, Flat] = field(default_factory=dict)


def configurations(patterns: Sequence[str], roots: Sequence[str], choosing: Collection[str] = ()) -> dict[str, Flat]:
    """Return the configurations matched by patterns, by name; the first of a name counts.

    `roots`: the checkout of the patterns, then other folders for its search paths. For names in
    `choosing`, every option of every group is read too.
    """
    by_name: dict[str, Flat] = {}
    for pattern in patterns:
        for file in sorted(glob(os.path.join(roots[0], pattern))):
            name = Path(file).stem
            if name.startswith("_") or name in by_name:
                continue
            flat = configuration(file, roots, name in choosing)
            if flat is not None and any(key.startswith(MARKS) for key in flat.keys):
                by_name[name] = flat
    return by_name


def configuration(file: str, roots: Sequence[str], choosing: bool = True) -> Flat | None:
    """Compose a main file, with all its choices if `choosing`; None if composition fails."""
    roots = (*roots, os.path.dirname(os.path.dirname(file)))  # some programs are started in their own folder
    flat = _compose(file, roots)
    if flat is None or not choosing:
        return flat
    for key, option in _options(file, roots, flat.made):
        variant = _compose(file, roots, f"{key}={option}")
        if variant is not None:
            flat.options[f"{key}={option}"] = variant
    return flat


def _compose(file: str, roots: Sequence[str], *settings: str) -> Flat | None:
    try:
        source = Source.read(file)
        document = Composer(tuple(roots), settings).compose(source)
    except UnusableInput:
        return None
    if document.partial or any(finding.severity is Severity.ERROR for finding in document.findings):
        return None
    chosen = _list_options(source, roots, *settings)
    return Flat(dict(_leaves(document.root, "")), chosen, os.path.relpath(file, roots[0]))


def _search(source: Source, roots: Sequence[str]) -> SearchPath:
    folders = read_search_path(find(source.root, "hydra.searchpath"), Environment(), [])
    return SearchPath.of(os.path.dirname(source.name), folders, roots)


def _list_options(source: Source, roots: Sequence[str], *settings: str) -> dict[str, str]:
    """Return the options of groups by command-line key, except below a folder's own `..`."""
    from ..models.composition.composed import GroupSettings
    from ..models.composition.settings import CommandSettings

    search = _search(source, roots)
    chosen = GroupSettings.of(CommandSettings.read(settings).settings, search, [])
    walk = Walk(search, Library(), chosen.choices)
    walk.from_(part_of(source), chosen.appended)
    return {key: option for key, option in walk.choices.made.items() if isinstance(option, str) and "/../" not in key}


def _options(file: str, roots: Sequence[str], made: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield every other option of every group."""
    search = _search(Source.read(file), roots)
    for key, option in made.items():
        group = key.partition("@")[0]
        folders = [os.path.join(folder.path, group) for folder in search.folders] if group else []
        names = {Path(name).stem for folder in folders if os.path.isdir(folder) for name in os.listdir(folder) if name.endswith(".yaml")}
        yield from ((key, name) for name in sorted(names - {option}))


def is_unsaid(text: str) -> bool:
    """Return True for a text whose key alone is stored."""
    return len(text) > LONGEST or text.startswith(("/", "hdfs://"))


def _leaves(value: Value, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, MapNode) and value.entries:
        for entry in value:
            yield from _leaves(entry.value, f"{path}.{entry.key.text}".lstrip("."))
    elif isinstance(value, Scalar):
        plain = value.value
        yield path, UNSTORED_VALUE if isinstance(plain, str) and is_unsaid(plain) else plain
    else:
        yield path, {} if isinstance(value, MapNode) else UNSTORED_VALUE
