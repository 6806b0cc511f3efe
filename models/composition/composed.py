"""Whole configuration of a main file: its defaults merged, its settings made.

Source: OmegaConf, omegaconf/basecontainer.py (_map_merge).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Sequence

from ..findings.finding import Finding, Unchecked, error
from ..text.document import Document, Kind, Setting
from ..text.environment import Environment
from ..text.interpolation import Interpolator
from ..text.source import Source
from ..text.tree import MapNode, Scalar, Value, find, kind_of
from .group_settings import GroupSettings
from .merge import Path, Unmergeable, doubted, embedded, merged
from .places import Added, Library, Part, SearchPath, part_of, searched
from .settings import Refused, Settings, applied
from .walk import Gap, Step, Walk

_ADD = "Name the folder that holds it with `--config-root DIR`"


def composed(
    source: Source,
    main: Source | None,
    given: Sequence[Setting],
    said: Settings,
    environment: Environment,
    roots: tuple[str, ...],
    library: Library,
    added: Added | None = None,
) -> Document:
    """See `Composer.started`; `said` are the settings of the command."""
    findings, settings = list(said.findings), (*given, *said.settings)
    where = next((each.value for each in reversed(settings) if each.key == "hydra.searchpath"), None)
    added, unfound, walk = added or Added(), list[Unchecked](), None
    folders = [*searched(where, environment, findings), *added.folders]
    if folders:
        own, unfound = added.search(folders, roots)
    if main is None:
        root = MapNode((), source.whole())
        appended = [each for each in settings if each.kind is Kind.ADD and own.is_group(each.key)] if folders else []
        others = [
            setting
            for setting in settings
            if "/" not in setting.key and setting.package is None and setting not in appended and not _is_choice(setting, settings)
        ]
        if appended:
            chosen = GroupSettings.of(appended, own, findings)
            walk = Walk(own, library, chosen.choices, findings)
            root = _merged(source, root, walk.from_(Part(source, root), chosen.appended), environment, findings)
    else:
        part = part_of(main)
        if where is None:
            folders = [*searched(find(main.root, "hydra.searchpath"), environment, findings), *folders]
        search = SearchPath.of(os.path.dirname(main.name), folders, (*roots, *added.below) if added.folders else roots)
        chosen = GroupSettings.of(settings, search, findings)
        walk = Walk(search, library, chosen.choices, findings)
        empty = MapNode((), main.root.span, main.root.flow)
        root = _merged(main, empty, walk.from_(part, chosen.appended), environment, findings)
        others = chosen.others
    for setting in others:
        try:
            root = applied(root, setting, main is None or walk is None or walk.partial, _Follow(root, environment))
        except Refused as problem:
            findings.append(problem.finding)
    span = main.root.span if main else root.span
    root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "hydra"), span=span)
    texts = {**(walk.texts if walk else {}), **({main.name: main} if main else {})}
    if said.source.text:
        texts[said.source.name] = said.source
    texts.pop(source.name, None)
    unchecked = [*unfound, *(walk.unchecked if walk else ())]
    if main is None:
        unchecked = [replace(each, decides=True, add=each.add or _ADD) for each in unchecked]
        unchecked += [_not_chosen(setting) for setting in settings if setting not in (*others, *appended)]
    found = Document(source, root, texts, walk is not None and walk.partial, tuple(findings), tuple(unchecked), environment)
    return replace(found, settings=settings)


def _merged(source: Source, root: MapNode, steps: Sequence[Step], environment: Environment, findings: list[Finding]) -> MapNode:
    for step in steps:
        if isinstance(step, Gap):
            root = doubted(root)
            continue
        value = embedded(step.part.content, step.package, step.span)
        if not isinstance(value, MapNode):
            message = f"`{step.part.source.name}` holds {kind_of(value)}, which cannot be the whole configuration"
            findings.append(error("PW013", "", message, value.span, help="write a map, or merge it under a package"))
            continue
        elsewhere = find(value, "hydra.searchpath") if step.part.source.name != source.name else None
        if elsewhere is not None:
            message = f"`hydra.searchpath` stands in `{step.part.source.name}`, but Hydra takes it from the first file alone"
            findings.append(error("PW013", "", message, elsewhere.span, help=f"move it to `{source.name}`"))
        try:
            root = merged(root, value, _Follow(root, environment))
        except Unmergeable as problem:
            message = f"`{problem}` is {kind_of(problem.above)} here and {kind_of(problem.below)} before, which Hydra cannot merge"
            places = {"origin": problem.below.span, "origin_label": "what it was to be merged with"}
            findings.append(error("PW013", "", message, problem.above.span, help="make both the same", **places))
    return root


def _is_choice(setting: Setting, settings: Sequence[Setting]) -> bool:
    """True if it chooses an option of a group: other settings set keys below it."""
    inside = f"{setting.key}."
    plain = isinstance(setting.value, Scalar) and isinstance(setting.value.value, str) and "." not in setting.key
    return plain and any(each.key.startswith(inside) for each in settings)


def _not_chosen(setting: Setting) -> Unchecked:
    """A group of which no text is there to choose from."""
    return Unchecked("PW013", setting.key, "it chooses among texts that are not here; `--config-root DIR` names their folder")


class _Follow:
    """What an interpolation refers to in a tree, and where that is; itself where that is not known."""

    def __init__(self, root: MapNode, environment: Environment) -> None:
        self.root, self.environment = root, environment

    def __call__(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        return Interpolator(self.root, self.environment, partial=True).target(scalar, path)
