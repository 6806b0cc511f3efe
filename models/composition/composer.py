"""Puts a main file together with everything that belongs to it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Sequence

from ..finding import Finding, error
from ..text.document import Document
from ..text.environment import Environment
from ..text.interpolation import Interpolator
from ..text.source import Source
from ..text.tree import Mapping, Scalar, Value, find, kind_of
from .group_settings import GroupSettings
from .library import Library, part_of
from .merge import Path, Unmergeable, doubted, embedded, merged
from .search_path import SearchPath
from .searched import searched
from .settings import Refused, Settings, applied
from .walk import Gap, Step, Walk


@dataclass
class Composer:
    """What one command says about how files are put together.

    Attributes
    ----------
    roots : folders that groups are looked for in, besides the folder of the file; nothing is read outside of them.
    settings : what `--set` says, each as on the command line.
    allowed : the environment variables that may be read.
    """

    roots: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    library: Library = field(default_factory=Library)

    @cached_property
    def _settings(self) -> Settings:
        return Settings.read(self.settings)

    def compose(self, source: Source) -> Document:
        """The whole configuration of a file. Raises UnusableInput if the file itself is not one YAML map within the limits."""
        main, environment, findings = part_of(source), Environment.of(self.allowed), list(self._settings.findings)
        folders = searched(self._settings.search_path or find(source.root, "hydra.searchpath"), environment, findings)
        search = SearchPath.of(os.path.dirname(source.name), folders, self.roots)
        chosen = GroupSettings.of(self._settings.settings, search, findings)
        walk = Walk(search, self.library, chosen.choices, findings)
        root = self._merged(source, walk.from_(main, chosen.appended), environment, findings)
        for setting in chosen.others:
            try:
                root = applied(root, setting, walk.partial, _Follow(root, environment))
            except Refused as problem:
                findings.append(problem.finding)
        root = Mapping(tuple(entry for entry in root if entry.key.text != "hydra"), source.root.span, source.root.flow)
        others = {name: text for name, text in walk.texts.items() if name != source.name}
        if self.settings:
            others[self._settings.source.name] = self._settings.source
        return Document(source, root, others, walk.partial, tuple(findings), tuple(walk.unchecked), environment, self.compose)

    def _merged(self, source: Source, steps: Sequence[Step], environment: Environment, findings: list[Finding]) -> Mapping:
        root = Mapping((), source.root.span, source.root.flow)
        for step in steps:
            if isinstance(step, Gap):
                root = doubted(root)
                continue
            value = embedded(step.part.content, step.package, step.span)
            if not isinstance(value, Mapping):
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


class _Follow:
    """What an interpolation refers to in a tree, and where that is; itself where that is not known."""

    def __init__(self, root: Mapping, environment: Environment) -> None:
        self.root, self.environment = root, environment

    def __call__(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        return Interpolator(self.root, self.environment, partial=True).target(scalar, path)
