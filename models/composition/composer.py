"""Puts a main file together with everything that belongs to it."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Sequence

from ..record import dataclass
from ..text.document import Document
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import MapNode
from .places import Added, Library

if TYPE_CHECKING:
    from ..text.document import Setting
    from .settings import Settings

_OF_HYDRA = ("defaults", "hydra")
_PACKAGE = "@package"


@dataclass
class Composer:
    """What one command says about how files are put together.

    Attributes
    ----------
    roots : folders that groups are looked for in, besides the folder of the file; nothing is read outside of them.
    settings : what `--set` says, each as on the command line.
    allowed : the environment variables that may be read.
    frameworks : releases that the user states, such as ``verl==0.6.1``.
    """

    roots: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    library: Library = field(default_factory=Library)

    def reading_in(self, folder: str | None) -> Composer:
        """Copy for the files of a named folder, which may all be read."""
        return self if folder is None or folder in self.roots else replace(self, roots=(*self.roots, folder))

    @cached_property
    def _settings(self) -> Settings:
        from .settings import Settings

        return Settings.read(self.settings)

    def compose(self, source: Source) -> Document:
        """The whole configuration of a file. Raises UnusableInput if the file itself is not one YAML map within the limits."""
        environment = Environment.of(self.allowed)
        if not self.settings and _stands_alone(source):
            return Document(source, source.root, environment=environment, compose=self.compose)
        return replace(self.started(source, source, (), environment), compose=self.compose)

    def started(
        self, source: Source, main: Source | None, given: Sequence[Setting], environment: Environment, added: Added | None = None
    ) -> Document:
        """What a program gets that is started with the settings of a `source`: a main file with these settings made, then those of `--set`.

        Where there is no main file, what they set is all there is, with what they choose from `added` folders.
        Raises UnusableInput if the main file is not one YAML map within the limits.
        """
        from .composed import composed

        return composed(source, main, given, self._settings, environment, self.roots, self.library, added)


def _stands_alone(source: Source) -> bool:
    """Is a file a whole configuration by itself, of which Hydra would change nothing? Raises UnusableInput where it is no YAML."""
    root = source.value
    return isinstance(root, MapNode) and all(root.get(key) is None for key in _OF_HYDRA) and _PACKAGE not in source.text
