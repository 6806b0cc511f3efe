"""Composer of a main file and the files of its `defaults` list."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Sequence

from ..record import dataclass
from ..text.document import Document
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import MapNode
from .places import AddedFolders, Library

if TYPE_CHECKING:
    from ..text.document import Setting
    from .settings import CommandSettings

_HYDRA_KEYS = ("defaults", "hydra")
_PACKAGE = "@package"


@dataclass
class Composer:
    """Options of one command for composing files.

    Attributes
    ----------
    roots : folders with config groups, besides the folder of the main file; nothing outside of them
        and the repository of the file is read.
    settings : texts of `--set`, as written on the command line.
    allowed : names of the environment variables that may be read.
    frameworks : releases stated by the user, such as ``verl==0.6.1``.
    command : command that starts the script, such as ``N=2 bash run.sh small``; "" without arguments.
    vendors : vendors of the accelerators of the machines, such as ``NV_GPU``; empty if unknown.
    """

    roots: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    library: Library = field(default_factory=Library)
    command: str = ""
    vendors: frozenset[str] = frozenset()

    def reading_in(self, folder: str | None) -> Composer:
        """Return a copy that may also read every file of a folder."""
        return self if folder is None or folder in self.roots else replace(self, roots=(*self.roots, folder))

    @cached_property
    def _settings(self) -> CommandSettings:
        from .settings import CommandSettings

        return CommandSettings.read(self.settings)

    def compose(self, source: Source) -> Document:
        """Return the whole configuration of a file. Raises UnusableInput if it is no YAML map."""
        environment, root = Environment.of(self.allowed), source.value
        has_hydra = not isinstance(root, MapNode) or any(entry.key.text in _HYDRA_KEYS for entry in root) or _PACKAGE in source.text
        if not self.settings and not has_hydra:
            return Document(source, source.root, environment=environment, compose=self.compose)
        return replace(self.compose_program(source, source, (), environment), compose=self.compose)

    def compose_program(
        self,
        source: Source,
        main: Source | None,
        program_settings: Sequence[Setting],
        environment: Environment,
        additions: AddedFolders | None = None,
    ) -> Document:
        """Compose the configuration of a program from a main file and settings.

        The settings of the program's command line (`program_settings`) are applied first, then those of
        `--set`. Without a main file, the settings are the whole configuration, with the options
        that they choose from `additions` folders. `source` is the text that starts the program. Raises
        UnusableInput if the main file is not one YAML map within the limits.
        """
        from .composed import compose

        return compose(source, main, program_settings, self._settings, environment, self.roots, self.library, additions)
