"""Whole configuration of a main file: defaults and settings merged.

Source: OmegaConf, omegaconf/basecontainer.py (_map_merge).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Sequence

from ..findings.finding import Finding, Unchecked, error
from ..text.document import Document, DocumentKind, Setting
from ..text.environment import Environment
from ..text.interpolation import Interpolator
from ..text.source import Source
from ..text.tree import MapNode, Scalar, Value, find, kind_of
from .group_settings import GroupSettings
from .merge import Path, Unmergeable, embed, mark_unknown, merged
from .places import Added, Library, PathPart, SearchPath, part_of, searched
from .settings import CommandSettings, RefusedSetting, apply_setting
from .walk import Gap, Step, Walk

_HELP = "Name the folder that holds it with `--config-root DIR`"


def composed(
    source: Source,
    main: Source | None,
    given: Sequence[Setting],
    command: CommandSettings,
    environment: Environment,
    roots: tuple[str, ...],
    library: Library,
    added: Added | None = None,
) -> Document:
    """Compose a main file with settings; see `Composer.started`.

    `given` are the settings of a program's command line, `command` those of `--set`. Without a main
    file, settings alone make the tree.
    """
    findings, settings = list(command.findings), (*given, *command.settings)
    searchpath = next((setting.value for setting in reversed(settings) if setting.key == "hydra.searchpath"), None)
    added, unfound, walk = added or Added(), list[Unchecked](), None
    folders = [*searched(searchpath, environment, findings), *added.folders]
    if folders:
        added_search, unfound = added.search(folders, roots)
    if main is None:
        root = MapNode((), source.whole())
        appended = (
            [setting for setting in settings if setting.kind is DocumentKind.ADD and added_search.is_group(setting.key)] if folders else []
        )
        value_settings = [
            setting
            for setting in settings
            if "/" not in setting.key and setting.package is None and setting not in appended and not _is_choice(setting, settings)
        ]
        if appended:
            chosen = GroupSettings.of(appended, added_search, findings)
            walk = Walk(added_search, library, chosen.choices, findings)
            root = _merged(source, root, walk.from_(PathPart(source, root), chosen.appended), environment, findings)
    else:
        part = part_of(main)
        if searchpath is None:
            folders = [*searched(find(main.root, "hydra.searchpath"), environment, findings), *folders]
        search = SearchPath.of(os.path.dirname(main.name), folders, (*roots, *added.below) if added.folders else roots)
        chosen = GroupSettings.of(settings, search, findings)
        walk = Walk(search, library, chosen.choices, findings)
        empty = MapNode((), main.root.span, main.root.flow)
        root = _merged(main, empty, walk.from_(part, chosen.appended), environment, findings)
        value_settings = chosen.value_settings
    for setting in value_settings:
        try:
            root = apply_setting(root, setting, main is None or walk is None or walk.partial, _Follow(root, environment))
        except RefusedSetting as refusal:
            findings.append(refusal.finding)
    span = main.root.span if main else root.span
    root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "hydra"), span=span)
    texts = {**(walk.texts if walk else {}), **({main.name: main} if main else {})}
    if command.source.text:
        texts[command.source.name] = command.source
    texts.pop(source.name, None)
    unchecked = [*unfound, *(walk.unchecked if walk else ())]
    if main is None:
        unchecked = [replace(reason, decides=True, add=reason.add or _HELP) for reason in unchecked]
        unchecked += [_unchosen_group(setting) for setting in settings if setting not in (*value_settings, *appended)]
    document = Document(source, root, texts, walk is not None and walk.partial, tuple(findings), tuple(unchecked), environment)
    return replace(document, settings=settings)


def _merged(source: Source, root: MapNode, steps: Sequence[Step], environment: Environment, findings: list[Finding]) -> MapNode:
    for step in steps:
        if isinstance(step, Gap):
            root = mark_unknown(root)
            continue
        value = embed(step.part.content, step.package, step.span)
        if not isinstance(value, MapNode):
            message = f"`{step.part.source.name}` holds {kind_of(value)}, which cannot be the whole configuration"
            findings.append(error("PW013", "", message, value.span, help="write a map, or merge it under a package"))
            continue
        misplaced = find(value, "hydra.searchpath") if step.part.source.name != source.name else None
        if misplaced is not None:
            message = f"`hydra.searchpath` stands in `{step.part.source.name}`, but Hydra takes it from the first file alone"
            findings.append(error("PW013", "", message, misplaced.span, help=f"move it to `{source.name}`"))
        try:
            root = merged(root, value, _Follow(root, environment))
        except Unmergeable as conflict:
            message = f"`{conflict}` is {kind_of(conflict.above)} here and {kind_of(conflict.below)} before, which Hydra cannot merge"
            places = {"origin": conflict.below.span, "origin_label": "what it was to be merged with"}
            findings.append(error("PW013", "", message, conflict.above.span, help="make both the same", **places))
    return root


def _is_choice(setting: Setting, settings: Sequence[Setting]) -> bool:
    """Return True if a setting chooses an option of a group.

    It does if more settings set keys below it.
    """
    inside = f"{setting.key}."
    plain = isinstance(setting.value, Scalar) and isinstance(setting.value.value, str) and "." not in setting.key
    return plain and any(candidate.key.startswith(inside) for candidate in settings)


def _unchosen_group(setting: Setting) -> Unchecked:
    """Return the note on a group whose options are in no available folder."""
    return Unchecked("PW013", setting.key, "it chooses among texts that are not here; `--config-root DIR` names their folder")


class _Follow:
    """Resolver of interpolations in a tree.

    Returns the target value and its path; an interpolation with an unknown target resolves to
    itself.
    """

    def __init__(self, root: MapNode, environment: Environment) -> None:
        self.root, self.environment = root, environment

    def __call__(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        return Interpolator(self.root, self.environment, partial=True).target(scalar, path)
